#include "mcp/call_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

namespace mcp {
namespace {

using namespace std::chrono_literals;

constexpr bool kShort = false;
constexpr bool kOpenEnded = true;

std::chrono::steady_clock::time_point Soon() {
  return std::chrono::steady_clock::now() + 30s;
}

/// Keeps calls from ending until it is opened.
class Gate {
 public:
  void Wait() const { opened_.wait(); }
  void Open() { promise_.set_value(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> opened_ = promise_.get_future().share();
};

TEST(CallPool, UsesNoMoreThreadsThanAllowed) {
  Gate gate;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  CallPool pool({.threads = 3});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.Run(kShort, 1, [&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      gate.Wait();
      --running;
    }));
  }
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_LE(most, 3);
}

TEST(CallPool, RefusesMoreThanMayWait) {
  Gate gate;
  std::promise<void> started;
  CallPool pool({.threads = 1, .queued_bytes = 2 * CallPool::kCallBytes + 1000});
  ASSERT_TRUE(pool.Run(kShort, 1, [&] {
    started.set_value();
    gate.Wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.Run(kShort, 400, [] {}));
  EXPECT_FALSE(pool.Run(kShort, 601, [] { FAIL(); }));
  EXPECT_TRUE(pool.Run(kShort, 600, [] {}));
  EXPECT_FALSE(pool.Run(kShort, 0, [] { FAIL(); }));
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_TRUE(pool.Run(kShort, 1, [] {}));
}

TEST(CallPool, OpenEndedCallsLeaveThreadsToTheOthers) {
  Gate gate;
  std::atomic<int> open_ended = 0;
  std::promise<void> other;
  CallPool pool({.threads = 3, .open_ended_threads = 2});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.Run(kOpenEnded, 1, [&] {
      ++open_ended;
      gate.Wait();
    }));
  }
  ASSERT_TRUE(pool.Run(kShort, 1, [&] { other.set_value(); }));
  EXPECT_EQ(other.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_LE(open_ended, 2);
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_EQ(open_ended, 50);
}

TEST(CallPool, OneThreadKeepsTheOrderOfBothKinds) {
  std::vector<int> order;
  CallPool pool({.threads = 1});
  for (int i = 0; i < 100; ++i) {
    const bool open_ended = i % 3 == 0;
    ASSERT_TRUE(pool.Run(open_ended, 1, [&order, i] { order.push_back(i); }));
  }
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

TEST(CallPool, WaitUntilIdleHasADeadline) {
  Gate gate;
  CallPool pool({.threads = 1});
  ASSERT_TRUE(pool.Run(kShort, 1, [&gate] { gate.Wait(); }));
  EXPECT_FALSE(pool.WaitUntilIdle(std::chrono::steady_clock::now()));
  gate.Open();
}

}  // namespace
}  // namespace mcp
