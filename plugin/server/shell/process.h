// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Processes in the guest, each on a channel of its own. The owner of the connection implements
/// Launcher and Process.
namespace shell {

// OpenSSH's sshd allows 10 channels (MaxSessions) by default: SFTP 1; processes 0 to 6; scripts 1
// or 2; commands the rest.
inline constexpr std::size_t kMaxChannels = 10;
inline constexpr std::size_t kMaxProcesses = 6;

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

  /// All channels are in use; the process waits for one.
  virtual void OnQueued() {}

  /// A long-running process lets others go first.
  [[nodiscard]] virtual bool is_long_running() const { return false; }

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

  /// What /bin/sh runs first in every session, before the user's profile. Set it before any starts.
  std::string prelude = {};
};

}  // namespace shell
