#include "mcp/call_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <vector>

#include "support/errors.h"
#include "testing/eventually.h"
#include "testing/no_more_threads.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;

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

TEST(CallPool, RunsEveryCallInOrderWithOneThread) {
  std::vector<int> order;
  CallPool pool({.threads = 1});
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&order, i] { order.push_back(i); }));
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

TEST(CallPool, UsesNoMoreThreadsThanAllowed) {
  Gate gate;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  CallPool pool({.threads = 3});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&] {
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

TEST(CallPool, RefusesMoreCallsThanMayWait) {
  Gate gate;
  std::promise<void> started;
  CallPool pool({.threads = 1, .queued_calls = 2, .queued_bytes = 1000});
  ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&] {
    started.set_value();
    gate.Wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
  EXPECT_FALSE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
}

TEST(CallPool, RefusesMoreBytesThanMayWait) {
  Gate gate;
  std::promise<void> started;
  CallPool pool({.threads = 1, .queued_calls = 100, .queued_bytes = 1000});
  ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&] {
    started.set_value();
    gate.Wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 2000, [] {}));  // alone it may be larger
  EXPECT_FALSE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
  gate.Open();
}

TEST(CallPool, RefusesACallWhereThereIsNoThreadAtAll) {
  CallPool pool({.threads = 2});
  {
    const testing_support::NoMoreThreads none;
    if (!none.imposed()) GTEST_SKIP() << "this system's threads cannot be limited";
    EXPECT_THROW(static_cast<void>(pool.Run(CallPool::Kind::kShort, 1, [] { FAIL(); })),
                 support::CallError);
  }
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [] {}));
  EXPECT_TRUE(pool.WaitUntilIdle(Soon()));
}

TEST(CallPool, DoesWithTheThreadsThatThereAre) {
  Gate gate;
  std::promise<void> started;
  std::atomic<bool> ran = false;
  CallPool pool({.threads = 2});
  ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&] {
    started.set_value();
    gate.Wait();
  }));
  started.get_future().wait();
  const testing_support::NoMoreThreads none;
  EXPECT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&ran] { ran = true; }));
  gate.Open();
  EXPECT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_TRUE(ran);
}

TEST(CallPool, OpenEndedCallsLeaveThreadsToTheOthers) {
  Gate gate;
  std::atomic<int> open_ended = 0;
  std::promise<void> other;
  CallPool pool({.threads = 3, .open_ended_threads = 2});
  EXPECT_FALSE(pool.Saturated(CallPool::Kind::kOpenEnded));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(pool.Run(CallPool::Kind::kOpenEnded, 1, [&] {
      ++open_ended;
      gate.Wait();
    }));
  }
  ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&] { other.set_value(); }));
  EXPECT_EQ(other.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_LE(open_ended, 2);
  // The thread counts as taken until it has come back from the call.
  ASSERT_TRUE(
      testing_support::Eventually([&] { return !pool.Saturated(CallPool::Kind::kShort); }, 30s));
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_EQ(open_ended, 50);
}

TEST(CallPool, CallsOfBothKindsKeepTheirOrder) {
  std::vector<int> order;
  CallPool pool({.threads = 1});
  for (int i = 0; i < 100; ++i) {
    const auto kind = i % 3 == 0 ? CallPool::Kind::kOpenEnded : CallPool::Kind::kShort;
    ASSERT_TRUE(pool.Run(kind, 1, [&order, i] { order.push_back(i); }));
  }
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

TEST(CallPool, WaitingForItsEndHasADeadline) {
  Gate gate;
  CallPool pool({.threads = 1});
  ASSERT_TRUE(pool.Run(CallPool::Kind::kShort, 1, [&gate] { gate.Wait(); }));
  EXPECT_FALSE(pool.WaitUntilIdle(std::chrono::steady_clock::now()));
  gate.Open();
}

}  // namespace
}  // namespace mcp
