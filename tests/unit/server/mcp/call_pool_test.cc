// SPDX-License-Identifier: Apache-2.0
#include "mcp/call_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <vector>

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

TEST(CallPool, UsesNoMoreThreadsThanAllowed) {
  Gate gate;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  CallPool pool({.quick = 3});
  for (int i = 0; i < 50; ++i) {
    pool.Run(Lane::kQuick, [&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      gate.Wait();
      --running;
    });
  }
  gate.Open();
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  EXPECT_LE(most, 3);
}

TEST(CallPool, ABusyLaneDelaysNoOther) {
  for (const Lane busy : {Lane::kQuick, Lane::kCommand, Lane::kWaiting}) {
    Gate gate;
    std::atomic<int> running = 0;
    std::array<std::promise<void>, 3> ended;
    CallPool pool({.quick = 2, .command = 2, .waiting = 2});
    for (int i = 0; i < 50; ++i) {
      pool.Run(busy, [&] {
        ++running;
        gate.Wait();
      });
    }
    for (const Lane other : {Lane::kQuick, Lane::kCommand, Lane::kWaiting}) {
      if (other == busy) continue;
      std::promise<void>& other_ended = ended.at(static_cast<std::size_t>(other));
      pool.Run(other, [&other_ended] { other_ended.set_value(); });
      EXPECT_EQ(other_ended.get_future().wait_for(30s), std::future_status::ready);
    }
    EXPECT_LE(running, 2);
    gate.Open();
    ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
    EXPECT_EQ(running, 50);
  }
}

TEST(CallPool, CallsOfALaneKeepTheirOrder) {
  std::vector<int> order;
  CallPool pool({.command = 1});
  for (int i = 0; i < 100; ++i) {
    pool.Run(Lane::kCommand, [&order, i] { order.push_back(i); });
  }
  ASSERT_TRUE(pool.WaitUntilIdle(Soon()));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

}  // namespace
}  // namespace mcp
