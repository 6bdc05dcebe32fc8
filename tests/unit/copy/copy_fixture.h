#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "copy/copy.h"
#include "support/errors.h"
#include "testing/child_process.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace copy {

namespace fs = std::filesystem;
using testing_support::ReadFile;
using testing_support::WriteFile;

/// A repository with one commit, and its side repository.
class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    fs::create_directories(project);
    WriteFile(project / "file.txt", "one\n");
    Run({"init", "-q", "-b", "main"});
    Run({"add", "-A"});
    Run({"commit", "-q", "-m", "first"});
  }

  std::string Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Ann", "-c", "user.email=a@b", "-c",
                                         "maintenance.auto=false"});
    const auto result = testing_support::RunProcess(
        {.arguments = std::move(arguments), .working_directory = project.string()});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    std::string output = result.output;
    if (output.ends_with('\n')) output.pop_back();
    return output;
  }

  [[nodiscard]] SidePlace Place() const { return {directory_.path() / "agent", project.string()}; }

 private:
  testing_support::TemporaryDirectory directory_;

 protected:
  const fs::path project = directory_.path() / "project";
};

/// The text of the support::CallError that `work` throws.
template <typename Work>
std::string ErrorOf(Work work) {
  try {
    work();
  } catch (const support::CallError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace copy
