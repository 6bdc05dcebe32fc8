#pragma once

#include <chrono>
#include <functional>

#include "support/context.h"

namespace mcp {

/// The time, for progress and records. Tests replace it. Thread-safe.
class Heartbeat {
 public:
  virtual ~Heartbeat() = default;

  [[nodiscard]] virtual support::Clock::time_point Now() const { return support::Clock::now(); }

  /// For dates that people read.
  [[nodiscard]] virtual std::chrono::system_clock::time_point WallNow() const {
    return std::chrono::system_clock::now();
  }

  /// Gets what sends progress, and null before that ends. A test that moves the time calls it.
  virtual void SetBeat(std::function<void()> /*beat*/) {}
};

}  // namespace mcp
