// SPDX-License-Identifier: Apache-2.0
#include "connection/shared_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "testing/eventually.h"
#include "testing/local_guest.h"
#include "testing/recorded_progress.h"

namespace connection {
namespace {

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

TEST(SharedConnection, ACallDoesNotGetTheFailureOfAnEarlierAttempt) {
  std::promise<void> first_attempt_began;
  std::promise<void> second_call_waits;
  int attempts = 0;
  SharedConnection connection([&](const Context&, const ReportStatus&) -> tools::Workspace {
    if (++attempts == 1) {
      first_attempt_began.set_value();
      second_call_waits.get_future().wait();
      throw Error("too early");
    }
    return ConnectionNamed("sh");
  });
  connection.ConnectInBackground();
  first_attempt_began.get_future().wait();
  auto call = std::async(std::launch::async, [&] {
    // Registering with the context is the last thing that a call does before it takes the lock.
    second_call_waits.set_value();
    return Acquire(connection, Context()).shell;
  });
  // Whether the call arrived during the first attempt or after it: it must succeed.
  EXPECT_EQ(call.get(), "sh");
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
