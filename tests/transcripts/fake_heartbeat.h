#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include "support/context.h"

namespace transcripts {

/// Time that stands still until a test moves it. Thread-safe.
class FakeHeartbeat {
 public:
  [[nodiscard]] support::Clock::time_point Now() const {
    const std::scoped_lock lock(mutex_);
    return now_;
  }

  void SetBeat(std::function<void()> beat) {
    const std::scoped_lock lock(mutex_);
    beat_ = std::move(beat);
  }

  /// Moves the time, with one beat in this thread.
  void Advance(support::Clock::duration by) {
    std::function<void()> beat;
    {
      const std::scoped_lock lock(mutex_);
      now_ += by;
      beat = beat_;
    }
    if (beat) beat();
  }

 private:
  mutable std::mutex mutex_;
  support::Clock::time_point now_;
  std::function<void()> beat_;
};

}  // namespace transcripts
