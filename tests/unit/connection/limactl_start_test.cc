#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "connection/instance_opener.h"
#include "support/errors.h"
#include "testing/eventually.h"
#include "testing/temporary_directory.h"

namespace connection {
namespace {

using namespace std::chrono_literals;
using support::Context;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// A PATH whose only limactl is a script.
class Starting : public ::testing::Test {
 protected:
  Starting() : old_path_(std::getenv("PATH")) { SetPath(directory_.path().string()); }
  ~Starting() override { SetPath(old_path_); }

  static void SetPath(const std::string& path) { ::setenv("PATH", path.c_str(), 1); }

  void MakeLimactl(const std::string& script) const {
    const std::filesystem::path path = directory_.path() / "limactl";
    std::ofstream(path) << "#!/bin/sh\nPATH=" << old_path_ << "\ncd " << directory_.path().string()
                        << "\n"
                        << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string ReadFile(const std::string& name) const {
    std::ifstream file(directory_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Empty when it has started.
  std::string Start(const Context& context = {}) {
    try {
      StartInstance("agent", context, [this](const std::string& text) { told_.push_back(text); });
    } catch (const support::CallError& error) {
      return error.what();
    }
    return "";
  }

  testing_support::TemporaryDirectory directory_;
  std::string old_path_;
  std::vector<std::string> told_;
};

TEST_F(Starting, RunsLimactlInItsOwnSessionAndWaits) {
  MakeLimactl(
      "printf '%s\\n' \"$@\" > arguments; cat > input; ps -o pgid= -p $$ > group\n"
      "echo of-limactl; echo of-limactl >&2; sleep 0.1; echo ended > end");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(Start(), "");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), Not(HasSubstr("of-limactl")));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("of-limactl")));
  EXPECT_EQ(ReadFile("arguments"), "start\n--tty=false\nagent\n");
  EXPECT_EQ(ReadFile("input"), "") << "standard input is empty and not ours";
  EXPECT_NE(std::stol(ReadFile("group")), static_cast<long>(::getpgrp()))
      << "signals of our terminal do not reach it";
  EXPECT_EQ(ReadFile("end"), "ended\n");
  EXPECT_THAT(told_, ElementsAre(AllOf(HasSubstr("\"agent\" is being started"),
                                       HasSubstr("limactl start agent"))));
}

TEST_F(Starting, FailureQuotesTheEndOfLimactlsOutput) {
  MakeLimactl("echo early; printf '%01100d\\n' 7; echo line 1 >&2; echo line 2; exit 3");
  EXPECT_THAT(Start(), AllOf(HasSubstr("`limactl start agent` failed (exit status 3)"),
                             HasSubstr("00007\nline 1\nline 2\n"), Not(HasSubstr("early"))));
}

TEST_F(Starting, MissingLimactlIsAnError) {
  EXPECT_THAT(Start(), AllOf(HasSubstr(directory_.path().string()), HasSubstr("No such file"),
                             HasSubstr("Start it on the host with: limactl start agent")));
}

TEST_F(Starting, ContinuesWhenTheProgramEnds) {
  MakeLimactl("while [ ! -e go ]; do sleep 0.02; done; echo ended > end");
  EXPECT_THROW(StartInstance("agent", Context().WithTimeout(1ms), [](const std::string&) {}),
               support::Stopped);
  std::ofstream(directory_.path() / "go") << "";
  EXPECT_TRUE(testing_support::Eventually([&] { return ReadFile("end") == "ended\n"; }));
}

}  // namespace
}  // namespace connection
