#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "connection/opened_connection.h"
#include "support/context.h"
#include "support/file_descriptor.h"

namespace connection {

/// Starts the instance with `limactl start --tty=false NAME`, limactl being the one on PATH
/// (limactl puts its own directory first there for its plugins). Its output goes to a file without
/// a name, never to this program's own streams, and it runs in a session of its own: a start that
/// has begun goes on when this program ends, because half a start helps nobody. One thread.
class InstanceStarter {
 public:
  /// How long a start is waited for; limactl itself gives up after ten minutes
  /// (--timeout of `limactl start`).
  static constexpr std::chrono::minutes kStartTimeLimit{11};

  /// How often is looked whether limactl has ended.
  static constexpr std::chrono::milliseconds kPollInterval{100};

  explicit InstanceStarter(std::string name, std::chrono::milliseconds time_limit = kStartTimeLimit)
      : name_(std::move(name)), time_limit_(time_limit) {}
  ~InstanceStarter();
  InstanceStarter(const InstanceStarter&) = delete;
  InstanceStarter& operator=(const InstanceStarter&) = delete;

  /// Starts it, or waits for the start that an earlier call began; returns when limactl has ended
  /// with success. The instance must exist: limactl would make one of this name. Throws
  /// support::CallError with limactl's last words when it failed, with what to do when there is no
  /// limactl on PATH or it takes as long as the time limit (it then goes on), support::Stopped
  /// (it goes on too).
  void Start(const support::Context& context, const Tell& tell);

  /// To be called when the instance has been reached. A start that nobody waits for any more and
  /// that has ended by the next call of Start is none of that call's: the instance has run since.
  void NoteReached() {
    if (process_) process_->reached = true;
  }

 private:
  struct Process {
    pid_t pid = -1;
    support::FileDescriptor output;
    support::Clock::time_point since;
    bool reached = false;  // the instance, since then
  };

  [[nodiscard]] Process Spawn() const;
  /// The wait status once limactl has ended.
  [[nodiscard]] std::optional<int> Ended() const;
  [[nodiscard]] std::string CommandLine() const { return "limactl start " + name_; }

  const std::string name_;
  const std::chrono::milliseconds time_limit_;
  std::optional<Process> process_;
};

}  // namespace connection
