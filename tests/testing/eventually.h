#pragma once

#include <chrono>
#include <thread>

namespace testing_support {

/// Polls `condition` every two milliseconds, at least once. False if it is still false after
/// `limit`.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
  constexpr std::chrono::milliseconds kBetweenLooks{2};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

}  // namespace testing_support
