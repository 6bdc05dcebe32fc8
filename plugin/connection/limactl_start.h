#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "support/context.h"

namespace connection {

/// Reports a status such as "connecting to …" for progress notifications. Called on the thread that
/// opens connections.
using ReportStatus = std::function<void(const std::string&)>;

/// Starts the instance with `limactl start --tty=false NAME`. Uses the limactl on PATH: limactl
/// puts its own directory first there for its plugins. Its output goes to a temporary file. It runs
/// in its own session, so a start continues when this program exits. One thread.
class LimactlStart {
 public:
  /// limactl itself gives up after ten minutes (`limactl start --timeout`).
  static constexpr std::chrono::minutes kTimeLimit{11};

  explicit LimactlStart(std::string name, std::chrono::milliseconds time_limit = kTimeLimit)
      : name_(std::move(name)), time_limit_(time_limit) {}

  /// Starts the instance, or waits for the start that an earlier call began; returns once limactl
  /// has succeeded. The instance must exist, or limactl would create it. Throws support::CallError
  /// if limactl failed (with its last lines), is missing, or exceeds the time limit; and
  /// support::Stopped. In the last two cases the start continues.
  void Run(const support::Context& context, const ReportStatus& report_status);

  /// Call it when the instance has been reached: the next Run does not wait for an earlier start.
  void Forget();

 private:
  struct Process {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> output;
    support::Clock::time_point since = support::Clock::now();
    pid_t pid = -1;
  };

  [[nodiscard]] Process Spawn() const;
  [[nodiscard]] std::string CommandLine() const { return "limactl start " + name_; }

  const std::string name_;
  const std::chrono::milliseconds time_limit_;
  std::optional<Process> process_;
};

}  // namespace connection
