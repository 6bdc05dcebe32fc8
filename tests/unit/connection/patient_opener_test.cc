#include "connection/patient_opener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <vector>

#include "connection/pause.h"

namespace connection {
namespace {

using namespace std::chrono_literals;
using support::CallError;
using support::Clock;
using support::ConnectionLost;
using support::Context;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kNoFailure = [] {};

class Opening : public ::testing::Test {
 protected:
  Opening() {
    patience_.total = 60s;
    patience_.again = 60s;
    patience_.broken = 60s;
    patience_.first_pause = 1ms;
    patience_.longest_pause = 4ms;
    steps_.attempt = [this](const Context& context) {
      const std::size_t attempt = attempts_++;
      if (attempt < failures_.size()) failures_[attempt]();
      if (always_) always_(context);
      OpenedConnection opened;
      opened.workspace.shell = std::to_string(attempts_);
      return opened;
    };
  }

  static void Lose() { throw ConnectionLost("connection refused", false); }
  static void FindStopped() { throw InstanceNotRunning("is stopped", lima::State::kStopped); }
  static void FindBroken() { throw InstanceNotRunning("is broken", lima::State::kBroken); }

  void AllowStart(const std::function<void()>& start) {
    steps_.start = [this, start](const Context&, const Tell&) {
      ++starts_;
      start();
    };
  }

  /// The number of attempts it took, or the text of the failure.
  std::string Open(PatientOpener& opener, const Context& context = {}) {
    try {
      return opener.Open(context, [this](const std::string& text) { told_.push_back(text); })
          .workspace.shell;
    } catch (const CallError& error) {
      return error.what();
    }
  }
  std::string Open() {
    PatientOpener opener(steps_, patience_);
    return Open(opener);
  }

  PatientOpener::Steps steps_;
  Patience patience_;
  std::vector<std::function<void()>> failures_;  ///< of the first attempts
  std::function<void(const Context&)> always_;   ///< of every attempt
  std::size_t attempts_ = 0;
  int starts_ = 0;
  std::vector<std::string> told_;
};

TEST_F(Opening, IsTriedAgainUntilTheGuestsSshdTakesConnections) {
  failures_ = {Lose, Lose, Lose, Lose, Lose};
  EXPECT_EQ(Open(), "6");
  EXPECT_THAT(told_.front(), HasSubstr("sshd"));
}

TEST_F(Opening, IsGivenUpInTimeWithTheLastFailure) {
  patience_.total = 50ms;
  patience_.again = 10ms;
  always_ = [](const Context&) { Lose(); };
  EXPECT_EQ(Open(), "connection refused");
  EXPECT_GT(attempts_, 3U);
}

TEST_F(Opening, PauseGrowsToItsLimit) {
  patience_.first_pause = 8ms;
  patience_.longest_pause = 32ms;
  failures_ = {Lose, Lose, Lose, Lose};
  const auto begin = Clock::now();
  EXPECT_EQ(Open(), "5");
  EXPECT_GE(Clock::now() - begin, 4ms + 8ms + 16ms + 16ms) << "half of 8, 16, 32 and 32";
}

TEST_F(Opening, AttemptThatHangsIsEndedByTheDeadlineOfAll) {
  patience_.total = 30ms;
  patience_.again = 1ms;
  always_ = [](const Context& context) {
    EXPECT_NE(context.deadline(), Clock::time_point::max());
    throw support::Stopped(support::StopReason::kDeadline);
  };
  EXPECT_THAT(Open(), HasSubstr("did not complete the connection in time"));
}

TEST_F(Opening, GuestThatStaysDeadDoesNotCostTheWholeTimeEachTime) {
  patience_.total = 40ms;
  patience_.again = 1ms;
  always_ = [](const Context&) { Lose(); };
  PatientOpener opener(steps_, patience_);
  EXPECT_EQ(Open(opener), "connection refused");
  const std::size_t first = std::exchange(attempts_, 0);
  EXPECT_EQ(Open(opener), "connection refused");
  EXPECT_LT(attempts_, first);
  EXPECT_GE(attempts_, 1U);
}

TEST_F(Opening, FailureOfLongAgoDoesNotShortenThePatience) {
  patience_.total = 40ms;
  patience_.again = 1ms;
  patience_.forget = 0ms;
  always_ = [](const Context&) { Lose(); };
  PatientOpener opener(steps_, patience_);
  for (int i = 0; i < 2; ++i) {
    attempts_ = 0;
    EXPECT_EQ(Open(opener), "connection refused");
    EXPECT_GT(attempts_, 2U);
  }
}

TEST_F(Opening, PauseEndsWhenTheProgramEnds) {
  patience_.first_pause = patience_.longest_pause = 1h;
  patience_.total = patience_.again = 10h;
  support::StopSource source;
  std::promise<void> began;
  always_ = [&](const Context&) {
    began.set_value();
    Lose();
  };
  auto open = std::async(std::launch::async, [&] {
    PatientOpener opener(steps_, patience_);
    return Open(opener, source.context());
  });
  began.get_future().wait();
  source.Stop(support::StopReason::kTerminated);
  EXPECT_THAT(open.get(), HasSubstr("terminate"));
}

TEST_F(Opening, StoppedInstanceIsToldAtOnce) {
  failures_ = {FindStopped};
  EXPECT_EQ(Open(), "is stopped");
  EXPECT_EQ(attempts_, 1U);
}

TEST_F(Opening, BrokenInstanceGetsAMomentToStart) {
  failures_ = {FindBroken, FindBroken, FindBroken, Lose, FindBroken};
  EXPECT_EQ(Open(), "6");
}

TEST_F(Opening, InstanceThatStaysBrokenIsToldSo) {
  patience_.broken = 20ms;
  always_ = [](const Context&) { FindBroken(); };
  EXPECT_EQ(Open(), "is broken");
  EXPECT_GT(attempts_, 2U);
}

TEST_F(Opening, OtherFailuresAreNotTriedAgain) {
  failures_ = {[] { throw CallError("no key fits"); }};
  EXPECT_EQ(Open(), "no key fits");
  EXPECT_EQ(attempts_, 1U);
}

TEST_F(Opening, StoppedInstanceIsStartedWhereThatIsWanted) {
  AllowStart(kNoFailure);
  failures_ = {FindStopped, Lose};
  EXPECT_EQ(Open(), "3");
  EXPECT_EQ(starts_, 1);
}

TEST_F(Opening, InstanceThatStopsAgainAtOnceIsNotStartedTwice) {
  AllowStart(kNoFailure);
  always_ = [](const Context&) { FindStopped(); };
  EXPECT_EQ(Open(), "is stopped");
  EXPECT_EQ(starts_, 1);
}

TEST_F(Opening, StartThatFailsIsToldInItsOwnWords) {
  AllowStart([] { throw CallError("limactl failed"); });
  always_ = [](const Context&) { FindStopped(); };
  EXPECT_EQ(Open(), "limactl failed");
  EXPECT_EQ(starts_, 1);
}

TEST_F(Opening, StartThatLeavesABrokenInstanceIsToldInItsOwnWords) {
  patience_.broken = 1ms;
  AllowStart([] { throw CallError("limactl failed"); });
  failures_ = {FindStopped};
  always_ = [](const Context&) { FindBroken(); };
  EXPECT_EQ(Open(), "limactl failed");
}

TEST_F(Opening, InstanceThatLookedBrokenBeforeItsStartGetsAMomentAfterItToo) {
  patience_.broken = 20ms;
  AllowStart([this] { Pause(patience_.broken, Context()); });
  failures_ = {FindBroken, FindStopped, FindBroken};
  EXPECT_EQ(Open(), "4");
}

TEST_F(Opening, StartThatFailsBecauseSomebodyElseStartsItDoesNotMatter) {
  AllowStart([] { throw CallError("limactl failed"); });
  failures_ = {FindStopped, FindBroken, Lose};
  EXPECT_EQ(Open(), "4");
}

}  // namespace
}  // namespace connection
