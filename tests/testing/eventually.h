#pragma once

#include <chrono>
#include <thread>

namespace testing_support {

/// Waits for what another thread or process does: looks every two milliseconds whether `condition`
/// holds, and once at least. False when it still does not hold after `limit`. A look that takes
/// long is not broken off.
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
