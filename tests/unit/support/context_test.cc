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

TEST(Context, StopReachesEveryCopyAndTheFirstReasonWins) {
  StopSource source;
  const Context first = source.context();
  const Context second = first.WithTimeout(std::chrono::hours(1));
  EXPECT_NO_THROW(second.ThrowIfStopped());
  source.Stop(StopReason::kCancelled);
  source.Stop(StopReason::kTerminated);
  EXPECT_EQ(first.stop_reason(), StopReason::kCancelled);
  EXPECT_EQ(second.stop_reason(), StopReason::kCancelled);
  EXPECT_THROW(second.ThrowIfStopped(), Stopped);
}

TEST(Context, StopsAtTheEarlierDeadline) {
  const auto early = Clock::now() - std::chrono::seconds(1);
  const Context context = Context().WithDeadline(early).WithTimeout(std::chrono::hours(1));
  EXPECT_EQ(context.deadline(), early);
  EXPECT_EQ(context.stop_reason(), StopReason::kDeadline);
  EXPECT_EQ(Context().stop_reason(), StopReason::kNone);
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

TEST(ContextWait, IsWokenByAStopAtAnyMoment) {
  for (int round = 0; round < 1000; ++round) {
    std::mutex mutex;
    std::condition_variable changed;
    StopSource source;
    std::thread stopper([&source] { source.Stop(StopReason::kCancelled); });
    ContextWait wait(source.context(), mutex, changed);
    {
      std::unique_lock lock(mutex);
      EXPECT_FALSE(wait.Until(lock, [] { return false; }));
    }
    stopper.join();
  }
}

TEST(Context, ReportsTheReasonWhileAWaitIsWoken) {
  StopSource source;
  std::mutex mutex;
  std::condition_variable changed;
  const Context context = source.context();
  const ContextWait wait(context, mutex, changed);
  std::unique_lock lock(mutex);  // the stopping thread waits for it
  std::thread stopper([&source] { source.Stop(StopReason::kCancelled); });
  while (context.stop_reason() == StopReason::kNone) std::this_thread::yield();
  lock.unlock();
  stopper.join();
}

TEST(Pause, EndsAfterItsTimeOrThrowsWhenItIsStopped) {
  EXPECT_NO_THROW(Pause(std::chrono::milliseconds(1), {}));
  EXPECT_THROW(Pause(std::chrono::hours(1), Context().WithTimeout(std::chrono::milliseconds(1))),
               Stopped);
}

}  // namespace
}  // namespace support
