#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "connection/opened_connection.h"
#include "support/context.h"

namespace connection {

/// Starts the instance with `limactl start --tty=false NAME`. limactl is the one on PATH: limactl
/// puts its own directory first there for its plugins. Its output goes to a temporary file, and it
/// runs in a session of its own: a start goes on when this program ends. One thread.
class LimactlStart {
 public:
  /// limactl itself gives up after ten minutes (`limactl start --timeout`).
  static constexpr std::chrono::minutes kTimeLimit{11};

  explicit LimactlStart(std::string name, std::chrono::milliseconds time_limit = kTimeLimit)
      : name_(std::move(name)), time_limit_(time_limit) {}

  /// Starts the instance, or waits for the start that an earlier call began; returns once limactl
  /// has succeeded. The instance must exist: limactl would create it. Throws support::CallError
  /// with limactl's last lines if it failed, or with what to do if there is no limactl or the time
  /// limit has passed, and support::Stopped. A start that is not waited for goes on.
  void Run(const support::Context& context, const ReportStatus& report_status);

  /// The instance has been reached: the next Run does not wait for an earlier start.
  void Forget();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Process {
    pid_t pid = -1;
    std::unique_ptr<std::FILE, CloseFile> output;
    support::Clock::time_point since;
  };

  [[nodiscard]] Process Spawn() const;
  [[nodiscard]] std::string CommandLine() const { return "limactl start " + name_; }

  const std::string name_;
  const std::chrono::milliseconds time_limit_;
  std::optional<Process> process_;
};

}  // namespace connection
