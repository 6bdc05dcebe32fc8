#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shell/process.h"
#include "support/context.h"
#include "support/errors.h"

namespace shell {

/// Takes the output of a session.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// On the thread that owns the connection, which must not wait. False: no more is wanted.
  virtual bool OnOutput(Stream stream, std::string_view bytes) = 0;

  /// On the calling thread: the request waits for a shell or a channel.
  virtual void OnQueued() {}

  /// On the calling thread: the request has been sent.
  virtual void OnStarted() {}
};

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

}  // namespace shell
