#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace support {

using Clock = std::chrono::steady_clock;

/// Why a piece of work was stopped.
enum class StopReason {
  kNone,        ///< not stopped
  kCancelled,   ///< the client withdrew the request
  kEndOfInput,  ///< standard input ended, or the parent process died
  kTerminated,  ///< this program received SIGTERM, SIGINT or SIGHUP
  kDeadline,    ///< the time allowed is over
};

/// "cancelled by the client", "timed out", …
std::string Describe(StopReason reason);

class StopSource;

/// What limits a piece of work: whoever asked for it may withdraw it, and it must end by a
/// deadline. A small value, passed to every operation that may wait; copies share the same stop
/// state. Thread-safe.
class Context {
 public:
  /// Never stopped, no deadline.
  Context() = default;

  /// The same context with a deadline that is the earlier of the present one and the given one.
  [[nodiscard]] Context WithDeadline(Clock::time_point deadline) const;
  [[nodiscard]] Context WithTimeout(Clock::duration timeout) const;

  /// `Clock::time_point::max()` when there is none.
  [[nodiscard]] Clock::time_point deadline() const { return deadline_; }

  /// Why the work must end now; kNone while it may go on. Never waits, so that it may be asked
  /// under any lock.
  [[nodiscard]] StopReason stop_reason() const;

  /// Throws `Stopped` when the work must end now.
  void ThrowIfStopped() const;

  /// Keeps a callback registered for as long as it lives. Its destructor waits for a callback that
  /// is running in another thread.
  class Registration {
   public:
    Registration() noexcept;
    Registration& operator=(Registration&&) noexcept;
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration();

   private:
    friend class Context;
    struct Entry;
    explicit Registration(std::unique_ptr<Entry> entry);
    std::unique_ptr<Entry> entry_;
  };

  /// Calls `callback` once, when the source is stopped: in the stopping thread, or at once in this
  /// one if it has been stopped already. A deadline that passes calls nothing: whoever waits must
  /// wait with the deadline. The callback must be quick and must not touch this context.
  [[nodiscard]] Registration OnStop(std::function<void()> callback) const;

 private:
  friend class StopSource;
  struct State;
  std::shared_ptr<State> state_;
  Clock::time_point deadline_ = Clock::time_point::max();
};

/// The side that stops. Thread-safe; the first reason wins.
class StopSource {
 public:
  StopSource();

  /// Stops every context taken from this source.
  void Stop(StopReason reason);

  [[nodiscard]] Context context() const;

 private:
  std::shared_ptr<Context::State> state_;
};

}  // namespace support
