#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shell/shell_session.h"
#include "support/context.h"
#include "support/errors.h"

namespace shell {

/// How a request ended.
struct RunEnd {
  /// 128+N after signal N. Empty if the sink had enough, or with `exit_signal`.
  std::optional<int> exit_status;
  /// The signal, without "SIG", that killed the session's first process. The request may still run.
  std::optional<std::string> exit_signal;
  bool shell_missing = false;  ///< the guest does not have the user's login shell
};

/// The context was stopped while a command ran.
class StoppedCommand : public support::Stopped {
 public:
  StoppedCommand(support::StopReason reason, bool verified)
      : Stopped(reason), verified_(verified) {}

  /// The guest has reported that no process of the command's session is left.
  [[nodiscard]] bool verified() const { return verified_; }

 private:
  bool verified_;
};

/// One resident shell (resident_script.h) on a channel of its own. The destructor closes the
/// channel, which stops what runs in it, except what a request has left. One thread at a time may
/// call Run; any thread may call the rest.
class ResidentShell {
 public:
  /// How long a stopped command may take to end.
  static constexpr std::chrono::seconds kStopPatience{10};

  /// Starts a program of resident_script.h without waiting.
  ResidentShell(Launcher& launcher, const std::string& program);
  ~ResidentShell() { session_->Close(); }
  ResidentShell(const ResidentShell&) = delete;
  ResidentShell& operator=(const ResidentShell&) = delete;

  enum class Condition {
    kIdle,      ///< can run a request
    kSettling,  ///< can run a request unless the last one has left background processes
    kInUse,     ///< runs no more requests, but background processes of the last may use the channel
    kOver,      ///< can be destroyed
  };
  [[nodiscard]] Condition condition() const;

  struct Reply {
    enum class Kind {
      kDone,        ///< see `end`
      kNotRun,      ///< the shell exited before, or its profile has changed: use another
      kNotStarted,  ///< the shell could not be started, or was killed: see `error`
      kUnfit,       ///< the shell never gets ready: see `error`
    };
    Kind kind = Kind::kDone;
    RunEnd end;
    std::string error;
  };

  enum class Effect { kNone, kAny };

  /// Runs a request of resident_script.h. Throws
  /// - StoppedCommand for a request with an effect that may have begun, within kStopPatience;
  /// - support::Stopped for others, at once;
  /// - support::ConnectionLost;
  /// - support::CallError if the guest refuses the channel.
  /// After an exception the shell must be destroyed.
  Reply Run(const Request& request, Effect effect, OutputSink& sink,
            const support::Context& context);

 private:
  [[nodiscard]] Reply NotStarted(Effect effect, const support::Context& context) const;
  [[nodiscard]] Reply Collect(Effect effect) const;

  const std::shared_ptr<Monitor> monitor_ = std::make_shared<Monitor>();
  const std::shared_ptr<ShellSession> session_ =
      std::make_shared<ShellSession>(monitor_, kSharedChannels);
  std::string directory_;  // of the last request
};

}  // namespace shell
