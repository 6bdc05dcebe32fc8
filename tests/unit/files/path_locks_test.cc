#include "files/path_locks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "support/context.h"
#include "support/errors.h"

namespace files {
namespace {

TEST(PathLocks, LetOneAtATimeHoldAPath) {
  PathLocks locks;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const PathLocks::Lock lock = locks.Acquire("/a", {});
      most = std::max<int>(most, ++inside);
      std::this_thread::yield();
      --inside;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST(PathLocks, OtherPathsDoNotWait) {
  PathLocks locks;
  const PathLocks::Lock one = locks.Acquire("/a", {});
  const PathLocks::Lock other = locks.Acquire("/b", {});
}

TEST(PathLocks, WaitEndsByTheDeadlineAndByACancel) {
  PathLocks locks;
  const PathLocks::Lock lock = locks.Acquire("/a", {});
  EXPECT_THROW(
      (void)locks.Acquire("/a", support::Context().WithTimeout(std::chrono::milliseconds(1))),
      support::Stopped);
  support::StopSource source;
  std::thread stopper([&] { source.Stop(support::StopReason::kCancelled); });
  EXPECT_THROW((void)locks.Acquire("/a", source.context()), support::Stopped);
  stopper.join();
}

}  // namespace
}  // namespace files
