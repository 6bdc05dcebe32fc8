#pragma once

#include <algorithm>
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

class StopSource;

/// Carries a stop signal and a deadline to every operation that may wait. A small value; copies
/// share the stop state. Thread-safe.
class Context {
  struct State;

 public:
  /// Never stopped, no deadline.
  Context() = default;

  /// The same context with the earlier of both deadlines.
  [[nodiscard]] Context WithDeadline(Clock::time_point deadline) const;
  [[nodiscard]] Context WithTimeout(Clock::duration timeout) const;

  /// `Clock::time_point::max()` if there is none.
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  /// Why the work must stop now; kNone while it may continue. Never blocks, so you may call it with
  /// any lock held.
  [[nodiscard]] StopReason stop_reason() const;

  /// Throws `Stopped` if the work must stop now.
  void ThrowIfStopped() const;

 private:
  friend class ContextWait;
  friend class StopSource;
  std::shared_ptr<State> state_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

/// Stops the contexts made from it. Thread-safe; the first reason wins.
class StopSource {
 public:
  StopSource();

  /// Stops every context of this source.
  void Stop(StopReason reason);

  [[nodiscard]] Context context() const;

 private:
  std::shared_ptr<Context::State> state_;
};

/// Waits on a condition variable until a context is stopped or times out.
class ContextWait {
 public:
  /// Must be constructed and destroyed without holding `mutex`.
  ContextWait(const Context& context, std::mutex& mutex, std::condition_variable& changed);
  ~ContextWait();
  ContextWait(const ContextWait&) = delete;
  ContextWait& operator=(const ContextWait&) = delete;

  /// Waits until done() is true, the context is stopped, or `until`. Returns done().
  template <typename Done>
  bool Until(std::unique_lock<std::mutex>& lock, Done done,
             Clock::time_point until = Clock::time_point::max()) {
    const auto over = [&] { return done() || context_.stop_reason() != StopReason::kNone; };
    until = std::min(until, context_.deadline());
    // wait_until(time_point::max()) overflows in some standard libraries.
    if (until == Clock::time_point::max()) {
      changed_.wait(lock, over);
    } else {
      changed_.wait_until(lock, until, over);
    }
    return done();
  }

 private:
  friend class StopSource;
  const Context context_;
  std::mutex& mutex_;
  std::condition_variable& changed_;
};

/// Waits for `duration`. Throws `Stopped` if the context is stopped first.
void Pause(Clock::duration duration, const Context& context);

}  // namespace support
