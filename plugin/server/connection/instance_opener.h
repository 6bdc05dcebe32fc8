// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connection/instance.h"
#include "paths/roots.h"
#include "support/context.h"

namespace connection {

/// Reports a status such as "connecting to …" for progress notifications. Called on the thread that
/// opens connections.
using ReportStatus = std::function<void(const std::string&)>;

/// Starts an instance with `limactl start --tty=false NAME`, and returns once limactl has
/// succeeded. It gives up after ten minutes (`limactl start --timeout`). The instance must exist,
/// or limactl would create it. Uses the limactl on PATH: limactl puts its own directory first there
/// for its plugins. Its output goes to a temporary file. It runs in its own session, so a start
/// continues when this program exits.
///
/// Throws support::Error if limactl failed (with the end of its output) or is missing, and
/// support::Stopped; then the start continues.
void StartInstance(const std::string& name, const support::Context& context,
                   const ReportStatus& report_status);

/// How long connecting is retried.
struct RetryTimes {
  using Duration = support::Clock::duration;

  /// All attempts for one connection together. A booting VM has its files long before sshd listens,
  /// and a busy sshd drops connections (MaxStartups). No known client times out before 60 s.
  Duration total = std::chrono::seconds(45);

  /// Replaces `total` if the last connection failed less than `memory` ago, so that calls to a dead
  /// guest fail sooner.
  Duration after_failure = std::chrono::seconds(5);
  Duration memory = std::chrono::minutes(1);

  /// How long a broken instance is retried: it looks broken briefly while it starts or stops.
  Duration broken = std::chrono::seconds(5);

  /// Between attempts. Doubles each time; up to half of it is taken off at random. OpenSSH since
  /// 9.8 blocks an address that reconnects too fast (PerSourcePenalties).
  Duration first_pause = std::chrono::milliseconds(100);
  Duration max_pause = std::chrono::seconds(3);
};

/// Opens connections to one instance: retries while its VM boots, and starts it if allowed. Keeps
/// the state that outlives a connection. One thread.
class InstanceOpener {
 public:
  /// `may_start` (`--start`) allows starting a stopped instance. `options` must outlive this.
  InstanceOpener(const InstanceOptions& options, bool may_start, const RetryTimes& times = {});
  virtual ~InstanceOpener() = default;
  InstanceOpener(const InstanceOpener&) = delete;
  InstanceOpener& operator=(const InstanceOpener&) = delete;

  /// Retries after support::ConnectionLost, and for a while if the instance is broken. Takes at
  /// most about `total` + `broken`; if it starts the instance, twice that plus the start itself.
  /// Throws the last attempt's error, or support::Stopped.
  tools::Workspace Open(const support::Context& context, const ReportStatus& report_status);

 protected:
  // Virtual for tests.
  virtual tools::Workspace Attempt(const support::Context& context) {
    return OpenInstance(options_, pins_, context);
  }
  virtual void Start(const support::Context& context, const ReportStatus& report_status) {
    StartInstance(options_.name, context, report_status);
  }

 private:
  const InstanceOptions& options_;
  const bool may_start_;
  const RetryTimes times_;
  const std::shared_ptr<paths::PinnedRoots> pins_ = std::make_shared<paths::PinnedRoots>();
  std::optional<support::Clock::time_point> failed_at_;
};

/// Connects only to the guest, with the same retries.
std::shared_ptr<guest::Guest> OpenGuest(const InstanceOptions& options,
                                        const ReportStatus& report_status);

}  // namespace connection
