#include "mcp/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "testing/eventually.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;

TEST(ThreadHeartbeat, BeatsEverySecondUntilNoBeatIsNeeded) {
  std::atomic<int> beats = 0;
  ThreadHeartbeat heartbeat;
  const auto begin = std::chrono::steady_clock::now();
  heartbeat.Start([&beats] { return ++beats < 2; });
  ASSERT_TRUE(testing_support::Eventually([&] { return beats == 2; }, 30s));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2s);
}

TEST(ThreadHeartbeat, StartsAgain) {
  std::atomic<int> beats = 0;
  ThreadHeartbeat heartbeat;
  const auto beat = [&beats] {
    ++beats;
    return false;
  };
  heartbeat.Start(beat);
  ASSERT_TRUE(testing_support::Eventually([&] { return beats == 1; }, 30s));
  heartbeat.Start(beat);
  EXPECT_TRUE(testing_support::Eventually([&] { return beats == 2; }, 30s));
}

TEST(ThreadHeartbeat, StopEndsItAtOnce) {
  ThreadHeartbeat heartbeat;
  heartbeat.Start([] {
    ADD_FAILURE() << "a beat after the end";
    return true;
  });
  heartbeat.Stop();
  heartbeat.Start([] { return true; });
}

}  // namespace
}  // namespace mcp
