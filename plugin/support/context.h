#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

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

/// The limits of a piece of work: its caller may stop it, and it has a deadline. A small value that
/// is passed to every operation that may wait; copies share the stop state. Thread-safe.
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

  /// Why the work must end now; kNone while it may go on. Never blocks, so it may be called under
  /// any lock.
  [[nodiscard]] StopReason stop_reason() const;

  /// Throws `Stopped` when the work must end now.
  void ThrowIfStopped() const;

  /// Keeps a callback registered. The destructor waits for a callback that is running in another
  /// thread.
  class Registration {
   public:
    Registration() = default;
    Registration& operator=(Registration&& other) noexcept {
      std::swap(state_, other.state_);
      std::swap(key_, other.key_);
      return *this;
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration();

   private:
    friend class Context;
    Registration(std::shared_ptr<State> state, std::uint64_t key)
        : state_(std::move(state)), key_(key) {}
    std::shared_ptr<State> state_;
    std::uint64_t key_ = 0;
  };

  /// Calls `callback` once, when the source is stopped: in the stopping thread, or at once in this
  /// one if it has been stopped already. A deadline calls nothing. The callback must be quick and
  /// must not use this context.
  [[nodiscard]] Registration OnStop(std::function<void()> callback) const;

 private:
  friend class StopSource;
  std::shared_ptr<State> state_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

/// The side that stops. Thread-safe; the first reason wins.
class StopSource {
 public:
  StopSource();

  /// Stops every context of this source.
  void Stop(StopReason reason);

  [[nodiscard]] Context context() const;

 private:
  std::shared_ptr<Context::State> state_;
};

/// Waits on a condition variable, no longer than a context allows.
class ContextWait {
 public:
  /// Must be constructed and destroyed without holding `mutex`.
  ContextWait(const Context& context, std::mutex& mutex, std::condition_variable& changed)
      : context_(context), changed_(changed), registration_(context.OnStop([&mutex, &changed] {
          { const std::scoped_lock lock(mutex); }
          changed.notify_all();
        })) {}

  /// Returns when done() is true, or the context ends, or at `until`. Returns done().
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
  const Context& context_;
  std::condition_variable& changed_;
  Context::Registration registration_;
};

/// Waits for `duration`. Throws `Stopped` if the context ends first.
void Pause(Clock::duration duration, const Context& context);

}  // namespace support
