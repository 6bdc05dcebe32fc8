// SPDX-License-Identifier: Apache-2.0
#include "connection/instance_opener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "connection/instance.h"
#include "support/errors.h"
#include "testing/error_of.h"
#include "testing/eventually.h"
#include "testing/files.h"
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
    const std::string directory = directory_.path().string();
    testing_support::WriteFile(
        path, "#!/bin/sh\nPATH=" + old_path_ + "\ncd " + directory + "\n" + script);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  [[nodiscard]] std::string ReadFile(const std::string& name) const {
    return testing_support::ReadFile(directory_.path() / name);
  }

  std::string StartError() {
    return testing_support::ErrorOf([this] {
      StartInstance("agent", {}, [this](const std::string& text) { told_.push_back(text); });
    });
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
  EXPECT_EQ(StartError(), "no error");
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

TEST_F(Starting, FailureQuotesTheEndOfLimactlsOutputOrSaysThatItIsMissing) {
  MakeLimactl("echo early; printf '%01100d\\n' 7; echo line 1 >&2; echo line 2; exit 3");
  EXPECT_THAT(StartError(), AllOf(HasSubstr("`limactl start agent` failed (exit status 3)"),
                                  HasSubstr("00007\nline 1\nline 2\n"), Not(HasSubstr("early"))));
  std::filesystem::remove(directory_.path() / "limactl");
  EXPECT_THAT(StartError(), AllOf(HasSubstr(directory_.path().string()), HasSubstr("No such file"),
                                  HasSubstr("Start it on the host with: limactl start agent")));
}

TEST_F(Starting, ContinuesWhenTheProgramEnds) {
  MakeLimactl("while [ ! -e go ]; do sleep 0.02; done; echo ended > end");
  EXPECT_THROW(StartInstance("agent", Context().WithTimeout(1ms), [](const std::string&) {}),
               support::Stopped);
  testing_support::WriteFile(directory_.path() / "go", "");
  EXPECT_TRUE(testing_support::Eventually([&] {
    return std::filesystem::exists(directory_.path() / "end") && ReadFile("end") == "ended\n";
  }));
}

TEST_F(Starting, AStoppedInstanceIsStartedOnceIfAllowed) {
  testing_support::WriteFile(directory_.path() / "lima/agent/lima.yaml", "{}\n");
  InstanceOptions options;
  options.lima_home = directory_.path() / "lima";
  options.name = "agent";
  const auto error = [&](bool may_start) {
    InstanceOpener opener(options, may_start);
    return testing_support::ErrorOf([&] { opener.Open({}, [](const std::string&) {}); });
  };
  MakeLimactl("echo start >> asked");
  EXPECT_THAT(error(false), HasSubstr("\"agent\" is stopped"));
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "asked"));
  EXPECT_THAT(error(true), HasSubstr("\"agent\" is stopped")) << "it has stopped again";
  EXPECT_EQ(ReadFile("asked"), "start\n");
  MakeLimactl("exit 3");
  EXPECT_THAT(error(true), HasSubstr("failed (exit status 3)"));
}

}  // namespace
}  // namespace connection
