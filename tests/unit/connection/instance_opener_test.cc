#include "connection/instance_opener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

namespace connection {
namespace {

using namespace std::chrono_literals;
using support::CallError;
using support::Clock;
using support::Context;
using ::testing::HasSubstr;

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
  throw CallError("no key fits");
}
void TimeOut(const Context& context) {
  EXPECT_NE(context.deadline(), Clock::time_point::max());
  throw support::Stopped(support::StopReason::kDeadline);
}
void FailToStart(const Context&) {
  throw CallError("limactl failed");
}

RetryTimes QuickTimes() {
  RetryTimes times;
  times.first_pause = 1ms;
  times.max_pause = 4ms;
  return times;
}

/// Connects as the test specifies; the connection's shell is the number of attempts.
class ScriptedOpener final : public InstanceOpener {
 public:
  ScriptedOpener(const InstanceOptions& options, const RetryTimes& times, Step start)
      : InstanceOpener(options, start != nullptr, times), start_(std::move(start)) {}

  std::string Open(const Context& context = {}) {
    try {
      const ReportStatus report_status = [this](const std::string& text) {
        reported.push_back(text);
      };
      return InstanceOpener::Open(context, report_status).shell;
    } catch (const CallError& error) {
      return error.what();
    }
  }

  std::vector<Step> first;  ///< attempts
  Step later = Succeed;     ///< attempts
  std::size_t attempts = 0;
  int starts = 0;
  std::vector<std::string> reported;

 protected:
  tools::Workspace Connect(const Context& context) override {
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
  RetryTimes times_ = QuickTimes();
};

struct Case {
  const char* name;
  std::string outcome;
  std::vector<Step> first = {};
  Step later = Succeed;
  Step start = nullptr;  ///< null: without --start
  int starts = 0;
};

TEST_F(InstanceOpenerTest, EndsAsExpected) {
  times_.broken = 20ms;
  const std::vector<Case> cases = {
      {"lost connections are retried", "6", {Lose, Lose, Lose, Lose, Lose}},
      {"a broken instance is retried", "5", {FindBroken, FindBroken, Lose, FindBroken}},
      {"an instance that stays broken", "is broken", {}, FindBroken},
      {"other failures are not retried", "no key fits", {RejectKeys}},
      {"a stopped instance", "is stopped", {FindStopped}},
      {"a stopped instance is started", "3", {FindStopped, Lose}, Succeed, Succeed, 1},
      {"an instance that stops again", "is stopped", {}, FindStopped, Succeed, 1},
      {"a start that fails", "limactl failed", {}, FindStopped, FailToStart, 1},
      {"one that leaves it broken", "limactl failed", {FindStopped}, FindBroken, FailToStart, 1},
      {"another's start", "4", {FindStopped, FindBroken, Lose}, Succeed, FailToStart, 1}};
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.name);
    ScriptedOpener opener = Make(expected.start);
    opener.first = expected.first;
    opener.later = expected.later;
    EXPECT_EQ(opener.Open(), expected.outcome);
    EXPECT_EQ(opener.starts, expected.starts);
  }
}

TEST_F(InstanceOpenerTest, ReportsThatItWaitsForSshd) {
  ScriptedOpener opener = Make();
  opener.first = {Lose};
  opener.Open();
  EXPECT_THAT(opener.reported.at(0), HasSubstr("sshd"));
}

TEST_F(InstanceOpenerTest, GivesUpInTimeAndSoonerTheNextTime) {
  times_.total = 60ms;
  times_.after_failure = 1ms;
  for (const bool forgets : {false, true}) {
    times_.memory = forgets ? 0s : 60s;
    ScriptedOpener opener = Make();
    opener.later = Lose;
    EXPECT_EQ(opener.Open(), "connection refused");
    EXPECT_GT(opener.attempts, 3U);
    opener.attempts = 0;
    EXPECT_EQ(opener.Open(), "connection refused");
    if (forgets) {
      EXPECT_GT(opener.attempts, 3U);
    } else {
      EXPECT_LE(opener.attempts, 3U);
    }
  }
}

TEST_F(InstanceOpenerTest, DoublesThePauseUpToItsLimit) {
  times_.first_pause = 8ms;
  times_.max_pause = 32ms;
  ScriptedOpener opener = Make();
  opener.first = {Lose, Lose, Lose, Lose};
  const auto begin = Clock::now();
  EXPECT_EQ(opener.Open(), "5");
  EXPECT_GE(Clock::now() - begin, 4ms + 8ms + 16ms + 16ms) << "half of 8, 16, 32 and 32";
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

}  // namespace
}  // namespace connection
