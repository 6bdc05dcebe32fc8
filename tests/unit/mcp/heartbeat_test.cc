#include "mcp/heartbeat.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "testing/eventually.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;

TEST(Heartbeat, BeatsEverySecondUntilNoBeatIsNeededAndStartsAgain) {
  std::atomic<int> beats = 0;
  Heartbeat heartbeat;
  const auto beat = [&beats] { return ++beats < 2; };
  const auto begin = std::chrono::steady_clock::now();
  heartbeat.Start(beat);
  ASSERT_TRUE(testing_support::Eventually([&] { return beats == 2; }, 30s));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2s);
  heartbeat.Start(beat);
  EXPECT_TRUE(testing_support::Eventually([&] { return beats == 3; }, 30s));
}

TEST(Heartbeat, StopEndsItAtOnce) {
  Heartbeat heartbeat;
  heartbeat.Start([] {
    ADD_FAILURE() << "a beat after the end";
    return true;
  });
  heartbeat.Stop();
  heartbeat.Start([] { return true; });
}

}  // namespace
}  // namespace mcp
