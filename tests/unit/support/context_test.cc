#include "support/context.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "support/errors.h"

namespace support {
namespace {

TEST(Context, BackgroundIsNeverStopped) {
  const Context context;
  EXPECT_EQ(context.stop_reason(), StopReason::kNone);
  EXPECT_NO_THROW(context.ThrowIfStopped());
}

TEST(Context, StopReachesEveryCopy) {
  StopSource source;
  const Context first = source.context();
  const Context second = first.WithTimeout(std::chrono::hours(1));
  source.Stop(StopReason::kCancelled);
  EXPECT_EQ(first.stop_reason(), StopReason::kCancelled);
  EXPECT_EQ(second.stop_reason(), StopReason::kCancelled);
  EXPECT_THROW(second.ThrowIfStopped(), Stopped);
}

TEST(Context, FirstReasonWins) {
  StopSource source;
  source.Stop(StopReason::kTerminated);
  source.Stop(StopReason::kCancelled);
  EXPECT_EQ(source.context().stop_reason(), StopReason::kTerminated);
}

TEST(Context, PassedDeadlineStops) {
  const Context context = Context().WithDeadline(Clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(context.stop_reason(), StopReason::kDeadline);
}

TEST(Context, EarlierDeadlineIsKept) {
  const auto early = Clock::now() + std::chrono::seconds(1);
  const Context context = Context().WithDeadline(early).WithTimeout(std::chrono::hours(1));
  EXPECT_EQ(context.deadline(), early);
}

TEST(Context, CallbackRunsOnceOnStop) {
  StopSource source;
  int calls = 0;
  const auto registration = source.context().OnStop([&calls] { ++calls; });
  source.Stop(StopReason::kCancelled);
  source.Stop(StopReason::kCancelled);
  EXPECT_EQ(calls, 1);
}

TEST(Context, ReportsTheReasonWhileACallbackWaits) {
  // As if the callback waited for a lock that the caller holds.
  StopSource source;
  std::promise<void> running;
  std::promise<void> asked;
  const auto registration = source.context().OnStop([&] {
    running.set_value();
    asked.get_future().wait();
  });
  std::thread stopper([&] { source.Stop(StopReason::kCancelled); });
  running.get_future().wait();
  auto reason = std::async(std::launch::async, [&] { return source.context().stop_reason(); });
  EXPECT_EQ(reason.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  asked.set_value();
  stopper.join();
  EXPECT_EQ(reason.get(), StopReason::kCancelled);
}

TEST(Context, CallbackRunsAtOnceWhenAlreadyStopped) {
  StopSource source;
  source.Stop(StopReason::kCancelled);
  int calls = 0;
  const auto registration = source.context().OnStop([&calls] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(Context, CallbackMayDestroyRegistrations) {
  StopSource source;
  int calls = 0;
  Context::Registration first;
  Context::Registration second;
  first = source.context().OnStop([&] {
    ++calls;
    first = Context::Registration();
    second = Context::Registration();
  });
  second = source.context().OnStop([&calls] { ++calls; });
  source.Stop(StopReason::kCancelled);
  EXPECT_EQ(calls, 1);
}

TEST(Context, DestroyingARegistrationWaitsForItsCallback) {
  StopSource source;
  std::promise<void> running;
  std::promise<void> released;
  bool done = false;
  auto registration = source.context().OnStop([&] {
    running.set_value();
    released.get_future().wait();
    done = true;
  });
  std::thread stopper([&] { source.Stop(StopReason::kCancelled); });
  running.get_future().wait();
  auto was_done = std::async(std::launch::async, [&] {
    registration = Context::Registration();
    return done;
  });
  released.set_value();
  EXPECT_TRUE(was_done.get());
  stopper.join();
}

TEST(Context, DestroyedRegistrationIsNotCalled) {
  StopSource source;
  int calls = 0;
  {
    const auto registration = source.context().OnStop([&calls] { ++calls; });
  }
  source.Stop(StopReason::kCancelled);
  EXPECT_EQ(calls, 0);
}

TEST(ContextWait, EndsWithTheConditionTheStopOrTheDeadline) {
  std::mutex mutex;
  std::condition_variable changed;
  const auto wait = [&](const Context& context, bool done) {
    ContextWait waiting(context, mutex, changed);
    std::unique_lock lock(mutex);
    return waiting.Until(lock, [&] { return done; });
  };
  EXPECT_TRUE(wait({}, true));
  EXPECT_FALSE(wait(Context().WithTimeout(std::chrono::milliseconds(1)), false));
  StopSource source;
  auto stopped = std::async(std::launch::async, [&] { return wait(source.context(), false); });
  source.Stop(StopReason::kCancelled);
  EXPECT_FALSE(stopped.get());
}

TEST(Pause, EndsAfterItsTimeOrThrowsWhenItIsStopped) {
  EXPECT_NO_THROW(Pause(std::chrono::milliseconds(1), {}));
  EXPECT_THROW(Pause(std::chrono::hours(1), Context().WithTimeout(std::chrono::milliseconds(1))),
               Stopped);
}

}  // namespace
}  // namespace support
