#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "shell/process.h"
#include "support/context.h"
#include "support/errors.h"

namespace shell {

/// Takes the output of a request.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// On the thread that owns the connection, which must not wait. False: no more is wanted.
  virtual bool OnOutput(Stream stream, std::string_view bytes) = 0;

  /// On the calling thread: the guest has no free channel, the request waits for one.
  virtual void OnQueued() {}

  /// On the calling thread: the request has been sent.
  virtual void OnStarted() {}
};

/// How a request ended.
struct RunEnd {
  /// Death by signal N is 128+N. Empty: the sink had enough, or the shell was killed and took the
  /// status with it.
  std::optional<int> exit_status;
  std::optional<std::string> exit_signal;  ///< of the shell itself, if it was killed; without "SIG"
  bool shell_missing = false;              ///< the guest does not have the user's login shell
};

/// The context was stopped while a command ran. Its output until then has been passed on.
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
/// channel: what still runs in it is stopped, unless the shell is retired. Any thread may look at
/// it; one at a time may run.
class ResidentShell {
 public:
  /// How long a stopped command is waited for.
  static constexpr std::chrono::seconds kStopPatience{10};

  /// Starts it without waiting. `bootstrap` is of resident_script.h, with the same mark.
  ResidentShell(Launcher& launcher, Turn turn, const std::string& mark, std::string bootstrap);
  ~ResidentShell();
  ResidentShell(const ResidentShell&) = delete;
  ResidentShell& operator=(const ResidentShell&) = delete;

  enum class Condition {
    kSettling,  ///< the last request has ended; perhaps something of it is left
    kIdle,
    kRetired,  ///< runs no more requests; a background process may still use the channel
    kOver,     ///< the channel has ended
  };
  [[nodiscard]] Condition condition() const;

  /// Waits while it is kSettling.
  void WaitUntilSettled(support::Clock::time_point deadline) const;

  /// It has had to wait for a channel, and is not ready.
  [[nodiscard]] bool is_queued() const;

  /// Has Run return kNotRun at once if it is queued, unless it becomes ready at that moment. Else
  /// false.
  bool AbandonWhileQueued();

  struct Reply {
    enum class Kind {
      kDone,         ///< see `end`
      kNotRun,       ///< retired or abandoned, or its profile has changed: run it elsewhere
      kNotReady,     ///< the shell exited, or printed too much, before it was ready: see `error`
      kNoDirectory,  ///< the same, since its directory is missing
    };
    Kind kind = Kind::kDone;
    RunEnd end;
    std::string error;
  };

  enum class Effect { kNone, kAny };

  /// Runs a request of resident_script.h. `make_room` is called while no channel is free; true if
  /// it has closed one. Throws
  /// - StoppedCommand, for requests with an effect that may have begun, after kStopPatience at the
  ///   latest;
  /// - support::Stopped for others, at once;
  /// - support::ConnectionLost;
  /// - support::CallError if the guest refuses the channel.
  /// After an exception the shell must be destroyed.
  Reply Run(const std::string& request, Effect effect, OutputSink& sink,
            const support::Context& context, const std::function<bool()>& make_room);

 private:
  class Channel;

  void WaitUntilReady(OutputSink& sink, const support::Context& context, const bool& interrupted,
                      const std::function<bool()>& make_room);

  std::shared_ptr<Channel> channel_;
  std::unique_ptr<Process> process_;
};

}  // namespace shell
