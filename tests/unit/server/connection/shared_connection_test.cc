// SPDX-License-Identifier: Apache-2.0
#include "connection/shared_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "connection/closed.h"
#include "support/errors.h"
#include "testing/eventually.h"
#include "testing/local_guest.h"
#include "testing/recorded_progress.h"

namespace connection {
namespace {

using namespace std::chrono_literals;
using support::Clock;
using support::ConnectionLost;
using support::Context;
using support::Error;
using support::StopReason;
using support::StopSource;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;
using ::testing::ThrowsMessage;

using testing_support::LocalGuest;

tools::Workspace ConnectionNamed(
    const std::string& shell, std::shared_ptr<LocalGuest> guest = std::make_shared<LocalGuest>()) {
  return {std::move(guest), nullptr, shell};
}

tools::Workspace Acquire(SharedConnection& connection, const Context& context) {
  testing_support::RecordedProgress progress;
  return connection.Acquire(context, progress);
}

using Step = std::function<void()>;

void Succeed() {}
void Lose() {
  throw ConnectionLost("connection refused", false);
}
void FindStopped() {
  throw InstanceNotRunning("is stopped", lima::State::kStopped);
}
void FindBroken() {
  throw InstanceNotRunning("is broken", lima::State::kBroken);
}
void Boot() {
  throw StillBooting("boots");
}

void RejectKeys() {
  throw Error("no key fits");
}

/// Connects as the test specifies; the connection's shell is the number of attempts.
struct ScriptedOpener {
  std::vector<Step> first = {};  ///< attempts
  Step later = Succeed;          ///< attempts
  std::size_t attempts = 0;

  tools::Workspace operator()(const Context&, const ReportStatus&) {
    const std::size_t attempt = attempts++;
    (attempt < first.size() ? first[attempt] : later)();
    return ConnectionNamed(std::to_string(attempts));
  }
};

class Retries : public ::testing::Test {
 protected:
  std::string Open(ScriptedOpener& opener, const Context& context = {}) {
    try {
      return OpenWithRetries(std::ref(opener), times_, context,
                             [this](const std::string& text) { reported_.push_back(text); })
          .shell;
    } catch (const Error& error) {
      return error.what();
    }
  }

  RetryTimes times_{.first_pause = 1ms, .max_pause = 4ms};
  std::vector<std::string> reported_;
};

TEST_F(Retries, FollowLostConnectionsAndBrokenInstances) {
  struct Case {
    const char* name;
    std::string outcome;
    ScriptedOpener opener;
    Clock::duration broken = 1h;
  };
  for (Case& expected : std::vector<Case>{
           {"lost connections are retried", "6", {{Lose, Lose, Lose, Lose, Lose}}},
           {"a broken instance is retried", "5", {{FindBroken, FindBroken, Lose, FindBroken}}},
           {"an instance that stays broken", "is broken", {{}, FindBroken}, 20ms},
           {"a closed instance that boots", "4", {{Boot, Lose, Boot}}},
           {"a closed instance that boots for too long", "boots", {{}, Boot}},
           {"other failures are not retried", "no key fits", {{RejectKeys}}},
           {"nor is a stopped instance", "is stopped", {{FindStopped}}}}) {
    times_.broken = expected.broken;
    times_.boot = 20ms;
    EXPECT_EQ(Open(expected.opener), expected.outcome) << expected.name;
  }
}

TEST_F(Retries, DoubleThePauseUpToItsLimitAndReportTheWait) {
  times_.first_pause = 8ms;
  times_.max_pause = 32ms;
  ScriptedOpener opener{{Lose, Lose, Lose, Lose}};
  const auto begin = Clock::now();
  EXPECT_EQ(Open(opener), "5");
  EXPECT_GE(Clock::now() - begin, 4ms + 8ms + 16ms + 16ms) << "half of 8, 16, 32 and 32";
  EXPECT_THAT(reported_.at(0), HasSubstr("sshd"));
}

TEST_F(Retries, EndWhenTheProgramEnds) {
  times_.first_pause = times_.max_pause = 1h;
  times_.lost = 10h;
  StopSource source;
  std::promise<void> began;
  ScriptedOpener opener{{}, [&] {
                          began.set_value();
                          Lose();
                        }};
  auto open = std::async(std::launch::async, [&] { return Open(opener, source.context()); });
  began.get_future().wait();
  source.Stop(StopReason::kTerminated);
  EXPECT_THAT(open.get(), HasSubstr("terminate"));
}

TEST_F(Retries, EndInTimeAndSoonerTheNextTime) {
  times_.lost = 500ms;
  times_.after_failure = 1ms;
  for (const bool forgets : {false, true}) {
    times_.memory = forgets ? 0s : 60s;
    ScriptedOpener opener{{}, Lose};
    SharedConnection connection(std::ref(opener), times_);
    for (const bool is_first : {true, false}) {
      opener.attempts = 0;
      EXPECT_THAT([&] { Acquire(connection, Context()); },
                  ThrowsMessage<Error>("connection refused"));
      EXPECT_EQ(opener.attempts == 1, !is_first && !forgets);
    }
  }
}

TEST(SharedConnection, IsOpenedOnceForAllCallsAndNotBefore) {
  std::atomic<int> attempts = 0;
  SharedConnection connection([&](const Context&, const ReportStatus&) {
    ++attempts;
    return ConnectionNamed("sh");
  });
  EXPECT_EQ(attempts, 0);
  std::vector<std::future<std::string>> calls;
  for (int i = 0; i < 20; ++i) {
    calls.push_back(
        std::async(std::launch::async, [&] { return Acquire(connection, Context()).shell; }));
  }
  for (auto& call : calls) EXPECT_EQ(call.get(), "sh");
  EXPECT_EQ(attempts, 1);
}

TEST(SharedConnection, IsOpenedAgainAfterItDied) {
  auto first = std::make_shared<LocalGuest>();
  int attempts = 0;
  SharedConnection connection([&](const Context&, const ReportStatus&) {
    ++attempts;
    return ConnectionNamed(std::to_string(attempts),
                           attempts == 1 ? first : std::make_shared<LocalGuest>());
  });
  EXPECT_EQ(Acquire(connection, Context()).shell, "1");
  first->set_alive(false);
  EXPECT_EQ(Acquire(connection, Context()).shell, "2");
}

TEST(SharedConnection, AFailureReachesTheCallAndTheNextCallRetries) {
  int attempts = 0;
  SharedConnection connection([&](const Context&, const ReportStatus&) -> tools::Workspace {
    if (++attempts == 1) throw Error("instance is stopped");
    return ConnectionNamed("sh");
  });
  EXPECT_THAT([&] { Acquire(connection, Context()); }, ThrowsMessage<Error>("instance is stopped"));
  EXPECT_EQ(Acquire(connection, Context()).shell, "sh");
}

TEST(SharedConnection, AConnectionThatIsDeadAtOnceIsAnError) {
  int attempts = 0;
  SharedConnection connection([&](const Context&, const ReportStatus&) {
    auto guest = std::make_shared<LocalGuest>();
    guest->set_alive(++attempts > 1);
    return ConnectionNamed("sh", guest);
  });
  EXPECT_THAT([&] { Acquire(connection, Context()); },
              Throws<ConnectionLost>(
                  AllOf(Property(&ConnectionLost::what, HasSubstr("lost as soon as it was opened")),
                        Property(&ConnectionLost::may_have_run, false))));
  EXPECT_EQ(Acquire(connection, Context()).shell, "sh");
}

TEST(SharedConnection, WaitingEndsWithTheContext) {
  SharedConnection connection([](const Context& context, const ReportStatus&) -> tools::Workspace {
    support::Pause(std::chrono::hours(1), context);
    return {};
  });
  EXPECT_THAT(
      [&] { Acquire(connection, Context().WithTimeout(std::chrono::milliseconds(1))); },
      ThrowsMessage<Error>(AllOf(HasSubstr("the guest is not ready: connecting to the guest"),
                                 HasSubstr("call again"))));

  StopSource source;
  auto call = std::async(std::launch::async, [&] { Acquire(connection, source.context()); });
  source.Stop(StopReason::kCancelled);
  EXPECT_THROW(call.get(), support::Stopped);
}

TEST(SharedConnection, AWaitingCallReportsWhatItWaitsFor) {
  testing_support::RecordedProgress progress;
  SharedConnection connection([&](const Context&, const ReportStatus& report_status) {
    report_status("the instance is being started");
    EXPECT_TRUE(testing_support::Eventually(
        [&] { return progress.last() == "the instance is being started"; }));
    return ConnectionNamed("sh");
  });
  EXPECT_EQ(connection.Acquire(Context(), progress).shell, "sh");
}

TEST(SharedConnection, DestructionStopsAnAttemptWithoutAWarning) {
  std::promise<void> began;
  auto connection = std::make_unique<SharedConnection>(
      [&](const Context& context, const ReportStatus&) -> tools::Workspace {
        began.set_value();
        support::Pause(std::chrono::hours(1), context);
        return {};
      });
  connection->ConnectInBackground();
  began.get_future().wait();
  testing::internal::CaptureStderr();
  connection.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace connection
