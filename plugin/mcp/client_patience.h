#pragma once

#include <chrono>
#include <cstdint>

#include "support/context.h"

namespace mcp {

/// Whether a client that has ended its input is still there: as long as it takes something, however
/// slowly. One thread at a time.
class ClientPatience {
 public:
  /// `taken`: the bytes that it has taken so far (Transport::BytesTaken).
  ClientPatience(std::chrono::milliseconds patience, std::uint64_t taken)
      : patience_(patience), taken_(taken) {}

  /// True once it has taken nothing for as long as the patience.
  [[nodiscard]] bool IsOver(std::uint64_t taken) {
    const support::Clock::time_point now = support::Clock::now();
    if (taken == taken_) return now - taken_at_ >= patience_;
    taken_ = taken;
    taken_at_ = now;
    return false;
  }

 private:
  std::chrono::milliseconds patience_;
  std::uint64_t taken_;
  support::Clock::time_point taken_at_ = support::Clock::now();
};

}  // namespace mcp
