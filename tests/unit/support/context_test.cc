// SPDX-License-Identifier: Apache-2.0
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

TEST(WaitUntil, EndsWithTheConditionTheStopTheDeadlineOrTheTime) {
  std::mutex mutex;
  std::condition_variable changed;
  const auto wait = [&](const Context& context, bool done,
                        Clock::time_point until = Clock::time_point::max()) {
    std::unique_lock lock(mutex);
    return WaitUntil(
        changed, lock, context, [&] { return done; }, until);
  };
  EXPECT_TRUE(wait({}, true));
  EXPECT_FALSE(wait(Context().WithTimeout(std::chrono::milliseconds(1)), false));
  EXPECT_FALSE(wait({}, false, Clock::now() + std::chrono::milliseconds(1)));
  StopSource source;
  auto stopped = std::async(std::launch::async, [&] { return wait(source.context(), false); });
  source.Stop(StopReason::kCancelled);
  EXPECT_FALSE(stopped.get());
}

TEST(WaitUntil, IsWokenByTheConditionVariable) {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  Clock::duration least = kStopDelay;  // of many: the machine may be busy
  for (int round = 0; round < 200; ++round) {
    Clock::time_point done_at;
    std::unique_lock lock(mutex);
    done = false;
    std::thread other([&] {
      const std::scoped_lock other_lock(mutex);
      done = true;
      done_at = Clock::now();
      changed.notify_all();
    });
    EXPECT_TRUE(WaitUntil(changed, lock, {}, [&] { return done; }));
    least = std::min(least, Clock::now() - done_at);
    lock.unlock();
    other.join();
  }
  EXPECT_LT(least, kStopDelay / 2) << "it does not wait for its next look";
}

TEST(Pause, EndsAfterItsTimeOrThrowsWhenItIsStopped) {
  EXPECT_NO_THROW(Pause(std::chrono::milliseconds(1), {}));
  EXPECT_THROW(Pause(std::chrono::hours(1), Context().WithTimeout(std::chrono::milliseconds(1))),
               Stopped);
}

}  // namespace
}  // namespace support
