// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace support {

using Clock = std::chrono::steady_clock;

enum class StopReason {
  kNone,        ///< not stopped
  kCancelled,   ///< the client withdrew the request
  kEndOfInput,  ///< standard input ended, or the parent process died
  kTerminated,  ///< this program received SIGTERM, SIGINT or SIGHUP
  kDeadline,
};

/// "cancelled by the client", "timed out", …
std::string Describe(StopReason reason);

/// Carries a stop signal and a deadline to every operation that may wait. A small value; copies
/// share the stop state. Thread-safe.
class Context {
 public:
  /// Never stopped, no deadline.
  Context() = default;

  /// The same context with the earlier of both deadlines.
  [[nodiscard]] Context WithDeadline(Clock::time_point deadline) const;
  [[nodiscard]] Context WithTimeout(Clock::duration timeout) const;

  /// `Clock::time_point::max()` if there is none.
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  /// Why the work must stop now; kNone while it may continue. Never blocks.
  [[nodiscard]] StopReason stop_reason() const;

  /// Throws `Stopped` if the work must stop now.
  void ThrowIfStopped() const;

 private:
  friend class StopSource;
  std::shared_ptr<const std::atomic<StopReason>> stopped_;  // null: never
  Clock::time_point deadline_ = Clock::time_point::max();
};

/// Stops the contexts made from it. Thread-safe; the first reason wins.
class StopSource {
 public:
  /// Stops every context of this source.
  void Stop(StopReason reason);

  [[nodiscard]] Context context() const;

 private:
  std::shared_ptr<std::atomic<StopReason>> stopped_ =
      std::make_shared<std::atomic<StopReason>>(StopReason::kNone);
};

/// How late a waiting thread may notice that its context was stopped.
inline constexpr std::chrono::milliseconds kStopDelay{20};

/// Waits on a condition variable until done() is true, the context is stopped, or `until`. Returns
/// done().
template <typename Done>
bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
               const Context& context, Done done,
               Clock::time_point until = Clock::time_point::max()) {
  until = std::min(until, context.deadline());
  while (!done() && context.stop_reason() == StopReason::kNone && Clock::now() < until) {
    changed.wait_until(lock, std::min(until, Clock::now() + kStopDelay));
  }
  return done();
}

/// Waits for `duration`. Throws `Stopped` if the context is stopped first.
void Pause(Clock::duration duration, const Context& context);

}  // namespace support
