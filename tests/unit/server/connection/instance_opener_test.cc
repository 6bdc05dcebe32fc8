// SPDX-License-Identifier: Apache-2.0
#include "connection/instance_opener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "connection/instance.h"
#include "support/errors.h"
#include "testing/error_of.h"
#include "testing/eventually.h"
#include "testing/files.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace connection {
namespace {

using namespace std::chrono_literals;
using support::Clock;
using support::Context;
using support::Error;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Step = std::function<void(const Context&)>;

void Succeed(const Context&) {}
void Lose(const Context&) {
  throw support::ConnectionLost("connection refused", false);
}
void FindStopped(const Context&) {
  throw InstanceNotRunning("is stopped", lima::State::kStopped);
}
void FindBroken(const Context&) {
  throw InstanceNotRunning("is broken", lima::State::kBroken);
}
void RejectKeys(const Context&) {
  throw Error("no key fits");
}
void TimeOut(const Context& context) {
  EXPECT_NE(context.deadline(), Clock::time_point::max());
  throw support::Stopped(support::StopReason::kDeadline);
}
void FailToStart(const Context&) {
  throw Error("limactl failed");
}

/// Connects as the test specifies; the connection's shell is the number of attempts.
class ScriptedOpener final : public InstanceOpener {
 public:
  ScriptedOpener(const InstanceOptions& options, const RetryTimes& times, Step start)
      : InstanceOpener(options, start != nullptr, times), start_(std::move(start)) {}

  std::string Open(const Context& context = {}) {
    const ReportStatus report_status = [this](const std::string& text) {
      reported.push_back(text);
    };
    try {
      return InstanceOpener::Open(context, report_status).shell;
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::vector<Step> first;  ///< attempts
  Step later = Succeed;     ///< attempts
  std::size_t attempts = 0;
  int starts = 0;
  std::vector<std::string> reported;

 protected:
  tools::Workspace Attempt(const Context& context) override {
    const std::size_t attempt = attempts++;
    (attempt < first.size() ? first[attempt] : later)(context);
    return {nullptr, nullptr, std::to_string(attempts)};
  }
  void Start(const Context& context, const ReportStatus&) override {
    ++starts;
    start_(context);
  }

 private:
  Step start_;
};

class InstanceOpenerTest : public ::testing::Test {
 protected:
  ScriptedOpener Make(Step start = nullptr) { return {options_, times_, std::move(start)}; }

  InstanceOptions options_;
  RetryTimes times_{.first_pause = 1ms, .max_pause = 4ms};
};

struct Case {
  const char* name;
  std::string outcome;
  std::vector<Step> first = {};
  Step later = Succeed;
  Step start = nullptr;  ///< null: without --start
  int starts = 0;
  Clock::duration broken = 1h;  ///< RetryTimes::broken
};

TEST_F(InstanceOpenerTest, EndsAsExpected) {
  const std::vector<Case> cases = {
      {"lost connections are retried", "6", {Lose, Lose, Lose, Lose, Lose}},
      {"a broken instance is retried", "5", {FindBroken, FindBroken, Lose, FindBroken}},
      {"an instance that stays broken", "is broken", {}, FindBroken, nullptr, 0, 20ms},
      {"other failures are not retried", "no key fits", {RejectKeys}},
      {"a stopped instance", "is stopped", {FindStopped}},
      {"a stopped instance is started", "3", {FindStopped, Lose}, Succeed, Succeed, 1},
      {"an instance that stops again", "is stopped", {}, FindStopped, Succeed, 1},
      {"a start that fails", "limactl failed", {}, FindStopped, FailToStart, 1},
      {"one that leaves it broken",
       "limactl failed",
       {FindStopped},
       FindBroken,
       FailToStart,
       1,
       20ms},
      {"another's start", "4", {FindStopped, FindBroken, Lose}, Succeed, FailToStart, 1}};
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.name);
    times_.broken = expected.broken;
    ScriptedOpener opener = Make(expected.start);
    opener.first = expected.first;
    opener.later = expected.later;
    EXPECT_EQ(opener.Open(), expected.outcome);
    EXPECT_EQ(opener.starts, expected.starts);
  }
}

TEST_F(InstanceOpenerTest, GivesUpInTimeAndSoonerTheNextTime) {
  times_.total = 500ms;
  times_.after_failure = 1ms;
  for (const bool forgets : {false, true}) {
    times_.memory = forgets ? 0s : 60s;
    ScriptedOpener opener = Make();
    opener.later = Lose;
    EXPECT_EQ(opener.Open(), "connection refused");
    EXPECT_GT(opener.attempts, 1U);
    opener.attempts = 0;
    EXPECT_EQ(opener.Open(), "connection refused");
    if (forgets) {
      EXPECT_GT(opener.attempts, 1U);
    } else {
      EXPECT_EQ(opener.attempts, 1U);
    }
  }
}

TEST_F(InstanceOpenerTest, DoublesThePauseUpToItsLimitAndReportsThatItWaitsForSshd) {
  times_.first_pause = 8ms;
  times_.max_pause = 32ms;
  ScriptedOpener opener = Make();
  opener.first = {Lose, Lose, Lose, Lose};
  const auto begin = Clock::now();
  EXPECT_EQ(opener.Open(), "5");
  EXPECT_GE(Clock::now() - begin, 4ms + 8ms + 16ms + 16ms) << "half of 8, 16, 32 and 32";
  EXPECT_THAT(opener.reported.at(0), HasSubstr("sshd"));
}

TEST_F(InstanceOpenerTest, EndsAnAttemptThatHangs) {
  times_.total = 30ms;
  ScriptedOpener opener = Make();
  opener.later = TimeOut;
  EXPECT_THAT(opener.Open(), HasSubstr("did not complete the connection in time"));
}

TEST_F(InstanceOpenerTest, EndsThePauseWhenTheProgramEnds) {
  times_.first_pause = times_.max_pause = 1h;
  times_.total = 10h;
  support::StopSource source;
  std::promise<void> began;
  ScriptedOpener opener = Make();
  opener.later = [&](const Context& context) {
    began.set_value();
    Lose(context);
  };
  auto open = std::async(std::launch::async, [&] { return opener.Open(source.context()); });
  began.get_future().wait();
  source.Stop(support::StopReason::kTerminated);
  EXPECT_THAT(open.get(), HasSubstr("terminate"));
}

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

}  // namespace
}  // namespace connection
