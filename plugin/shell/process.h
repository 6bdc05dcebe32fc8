#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

/// Processes in the guest, each on a channel of its own. Whoever owns the connection implements
/// Launcher and Process.
namespace shell {

enum class Stream { kOutput, kError };

/// How a process's channel ended.
struct ProcessEnd {
  std::string problem;       ///< why it did not start, or the connection broke; else empty
  bool line_lost = false;    ///< the connection is gone
  bool was_started = false;  ///< the guest may have run it
  std::optional<int> exit_status;
  std::optional<std::string> exit_signal;  ///< without "SIG"
};

/// Hears of one process, on the thread that owns the connection. Its functions are quick, do not
/// throw and do not call the guest.
class ProcessEvents {
 public:
  virtual ~ProcessEvents() = default;

  virtual void OnOutput(Stream stream, std::string_view bytes) = 0;

  /// The guest has no free channel now (sshd's MaxSessions); the process waits for one.
  virtual void OnQueued() {}

  /// The process has exited, and what it left behind keeps its channel open. At most once.
  virtual void OnHeld(const ProcessEnd& /*end*/) {}

  /// The channel has ended. Exactly once, the last call.
  virtual void OnEnd(const ProcessEnd& end) = 0;
};

/// A process in the guest. The destructor closes the channel without waiting. Any thread.
class Process {
 public:
  virtual ~Process() = default;

  /// To its standard input. Never waits; ignored once the process has ended.
  virtual void Send(std::string bytes) = 0;

  /// Ends its standard input.
  virtual void EndInput() = 0;
};

/// Who may have a channel where the guest allows no further one.
enum class Turn {
  kInOrder,   ///< whoever has asked first
  kOpenEnded  ///< may run for ever, and therefore leaves channels to the others
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts `command_line`, which sshd gives to the user's login shell with -c. Does not wait.
  virtual std::unique_ptr<Process> Start(std::string command_line, Turn turn,
                                         std::shared_ptr<ProcessEvents> events) = 0;
};

}  // namespace shell
