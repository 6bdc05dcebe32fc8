// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace testing_support {

/// Polls `condition`, at least once, with pauses of two milliseconds or as long as the last look
/// took: a look at all processes would load the machine. False if it is still false after `limit`.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  constexpr std::chrono::milliseconds kBetweenLooks{2};
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limit;
  for (Clock::time_point begin = Clock::now(); !condition(); begin = Clock::now()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::max<Clock::duration>(kBetweenLooks, Clock::now() - begin));
  }
  return true;
}

}  // namespace testing_support
