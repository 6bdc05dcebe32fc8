// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/context.h"
#include "support/errors.h"

/// Processes in the guest, each on a channel of its own, and what runs in them. The owner of the
/// connection implements Launcher and Process.
namespace shell {

// sshd's default (MaxSessions) is 10 channels: SFTP 1 (2 while one hangs); processes 0 to 6;
// scripts 1 or 2; commands the rest.
inline constexpr std::size_t kMaxChannels = 10;
inline constexpr std::size_t kMaxProcesses = 6;

/// For files, and for scripts and commands in turn: sshd must allow these beside the processes.
inline constexpr std::size_t kSharedChannels = 2;

enum class Stream { kOutput, kError };

/// How a process ended.
struct ProcessEnd {
  std::string problem;           ///< why it did not start, or why the connection was lost
  bool connection_lost = false;  ///< the connection is gone
  bool was_started = false;      ///< the guest may have run it
  std::optional<int> exit_status;
  std::optional<std::string> exit_signal;  ///< without "SIG"
};

/// Called on the thread that owns the connection. The functions must be quick, must not throw and
/// must not call the guest.
class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;

  virtual void OnOutput(Stream stream, std::string_view bytes) = 0;

  /// The guest has no free channel now (sshd's MaxSessions); the process waits for one.
  virtual void OnQueued() {}

  /// How many channels sshd must allow at once before this process gets one.
  [[nodiscard]] virtual std::size_t needed_channels() const { return kSharedChannels; }
  /// A long-running process lets others go first.
  [[nodiscard]] bool is_long_running() const { return needed_channels() > kSharedChannels; }

  /// The process has exited. Once; there is no more output. Background processes that it left may
  /// still use the channel.
  virtual void OnEnd(const ProcessEnd& end) = 0;

  /// After OnEnd: nothing uses the channel any more. The last call.
  virtual void OnClosed() {}
};

/// A process in the guest. The destructor closes the channel without waiting. Any thread.
class Process {
 public:
  virtual ~Process() = default;

  /// To its standard input. Never waits, but keeps the bytes until they are sent; ignored once the
  /// process has ended.
  virtual void Send(std::string bytes) = 0;

  /// Ends its standard input.
  virtual void EndInput() = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts `command_line`, which sshd passes to the user's login shell with -c. Does not wait.
  virtual std::unique_ptr<Process> Start(std::string command_line,
                                         std::shared_ptr<ProcessEvents> events) = 0;
};

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
  /// `running`: "2 commands run (make -j4, 3 min; sleep 9, 5 s)".
  virtual void OnQueued(const std::string& /*running*/) {}

  /// On the calling thread: the request has been sent.
  virtual void OnStarted() {}

  std::string command = {};  ///< for `running`
  support::Clock::time_point began = support::Clock::now();
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
