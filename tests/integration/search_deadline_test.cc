// The deadline of a search stops its processes in the guest, over ssh::Connect and a real sshd.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "integration/loopback_guest.h"
#include "support/errors.h"
#include "testing/child_process.h"
#include "testing/eventually.h"
#include "testing/silent_progress.h"
#include "unit/tools/tool_named.h"

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class SearchDeadline : public integration::LoopbackGuest, public tools::WorkspaceSource {
 protected:
  SearchDeadline() {
    StartInstance();
    guest_ = Connect();
    std::filesystem::create_directory(root_);
    paths::PathRules::Options rules;
    rules.roots = {{root_, root_, false, {}}};
    rules.instance = "default";
    paths_ = std::make_shared<const paths::PathRules>(std::move(rules));
  }

  tools::Workspace Acquire(const support::Context& /*context*/,
                           mcp::ProgressReporter& /*progress*/) override {
    return {guest_, paths_, ""};
  }

  /// Whether a process of the guest has this in its command line.
  static bool Runs(const std::string& word) {
    return testing_support::RunProcess({.arguments = {"pgrep", "-f", "--", word}}).exit_code == 0;
  }

  const std::string root_ = directory_.path() / "root";
  std::shared_ptr<guest::Guest> guest_;
  std::shared_ptr<const paths::PathRules> paths_;
  testing_support::SilentProgress progress_;
};

TEST_F(SearchDeadline, EndsACatastrophicPatternAndItsProcesses) {
  // Each file takes milliseconds, but too few steps for PCRE to fail.
  for (int i = 0; i < 4000; ++i) {
    std::ofstream(root_ + "/" + std::to_string(i)) << std::string(21, 'a') << "!\n";
  }
  // No other process has it in its command line.
  const std::string mark = "mark" + std::filesystem::path(directory_.path()).filename().string();
  const std::string pattern = "((?#" + mark + ")a+)+$";
  const auto tool = tools::ToolNamed("search_file_content", *this, {.time_limit = 1s});
  const auto start = std::chrono::steady_clock::now();
  try {
    const mcp::ToolResult found =
        tool.call({{{"pattern", pattern}, {"path", root_}}, support::Context(), progress_});
    FAIL() << "it finished: " << tools::Structured(found);
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("The search in " + root_ + " took longer than 1s and was stopped."));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
  EXPECT_TRUE(testing_support::Eventually([&] { return !Runs(mark); }, 20s))
      << "git still runs in the guest";
}

}  // namespace
