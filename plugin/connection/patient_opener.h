#pragma once

#include <functional>
#include <optional>

#include "connection/opened_connection.h"
#include "lima/status.h"
#include "support/context.h"
#include "support/errors.h"

namespace connection {

/// The instance is stopped or broken, as far as Lima's files tell: nothing to connect to.
class InstanceNotRunning : public support::CallError {
 public:
  InstanceNotRunning(const std::string& text, lima::State state) : CallError(text), state_(state) {}

  [[nodiscard]] lima::State state() const { return state_; }

 private:
  lima::State state_;
};

/// How long is tried, and how often.
struct Patience {
  using Duration = support::Clock::duration;

  /// For one connection, all attempts together: a virtual machine that boots just now has written
  /// its files long before its sshd listens, and an sshd with too many unfinished logins
  /// (MaxStartups) drops whom it likes. Clients give up at 60 s at the earliest.
  Duration total = std::chrono::seconds(45);

  /// The same where the last try has already taken as long in vain, so that the guest whose sshd is
  /// dead does not cost each call `total`.
  Duration again = std::chrono::seconds(5);

  /// After this long without a try, one in vain counts no more.
  Duration forget = std::chrono::minutes(1);

  /// An instance looks broken for a moment while it starts or stops.
  Duration broken = std::chrono::seconds(5);

  /// Between attempts: doubled each time, less a random part of up to a half. OpenSSH since 9.8
  /// shuts out an address that comes again too fast (PerSourcePenalties).
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(3);
};

/// Makes a connection out of attempts. Attempts that fail with support::ConnectionLost are made
/// again, and so are those that find a broken instance, for a while; a stopped instance is started
/// where that is wanted. Every other failure ends it. One thread at a time.
class PatientOpener {
 public:
  struct Steps {
    /// One attempt; throws support::ConnectionLost, InstanceNotRunning, other support::CallError.
    std::function<OpenedConnection(const support::Context&)> attempt;
    /// Starts the stopped instance and returns when it runs; throws support::CallError. Empty: not
    /// wanted.
    std::function<void(const support::Context&, const Tell&)> start = {};
  };

  explicit PatientOpener(Steps steps, const Patience& patience = {})
      : steps_(std::move(steps)), patience_(patience) {}

  /// Returns within about `Patience::total` and `Patience::broken`; where the instance is started,
  /// within twice these and the time of `Steps::start`. Throws what the attempts threw last,
  /// support::ConnectionLost when the time is over, support::Stopped.
  OpenedConnection Open(const support::Context& context, const Tell& tell);

 private:
  class Run;

  Steps steps_;
  Patience patience_;
  /// Of attempts in vain: since when, and when the last one ended.
  std::optional<support::Clock::time_point> failing_since_;
  support::Clock::time_point failed_at_;
};

}  // namespace connection
