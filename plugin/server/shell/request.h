// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "shell/process.h"
#include "support/context.h"
#include "support/errors.h"

/// What is requested of a resident shell, who takes its output, and how it ends.
namespace shell {

/// A program for the guest's /bin/sh. It must not change the guest, so a lost one is simply run
/// again, and errors promise that nothing was changed. copy/ runs others and words its own errors.
struct Script {
  std::string text;
  /// What it calls: each shell is sent it once, and keeps it.
  std::string_view functions = {};
};

/// Takes the output of a session.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// On the thread that owns the connection, which must not wait. False: no more is wanted.
  virtual bool OnOutput(Stream stream, std::string_view bytes) = 0;

  /// On the calling thread, about once a second: the request waits for a shell or a channel.
  /// `running`: "2 commands run (make -j4, 3 min; sleep 9, 5 s), 1 process runs".
  virtual void OnQueued(const std::string& /*running*/) {}

  /// On the calling thread: the request has been sent.
  virtual void OnStarted() {}

  std::string command = {};  ///< for `running`
  std::optional<support::Clock::time_point> began = {};
};

class FunctionSink final : public OutputSink {
 public:
  using Function = std::function<bool(Stream stream, std::string_view bytes)>;
  explicit FunctionSink(Function on_output) : on_output_(std::move(on_output)) {}
  bool OnOutput(Stream stream, std::string_view bytes) override {
    return on_output_(stream, bytes);
  }

 private:
  const Function on_output_;
};

/// How a request ended.
struct RunEnd {
  /// 128+N after signal N. Empty if the sink had enough, or with `exit_signal`.
  std::optional<int> exit_status;
  /// The signal, without "SIG", that killed the session's first process. The request may still run.
  std::optional<std::string> exit_signal;
  bool began = true;           ///< false: the profile ended the shell instead
  bool shell_missing = false;  ///< the guest does not have the user's login shell
};

/// The context was stopped while a command ran, or its profile.
class StoppedCommand : public support::Stopped {
 public:
  StoppedCommand(support::StopReason reason, std::string outcome)
      : Stopped(reason), outcome_(std::move(outcome)) {}

  /// What is known of its processes, for the agent. Empty: only the profile ran.
  [[nodiscard]] const std::string& outcome() const { return outcome_; }

 private:
  std::string outcome_;
};

}  // namespace shell
