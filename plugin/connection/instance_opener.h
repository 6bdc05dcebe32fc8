#pragma once

#include <memory>
#include <optional>

#include "connection/instance.h"
#include "connection/limactl_start.h"
#include "paths/roots.h"
#include "support/context.h"

namespace connection {

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
  // For tests.
  virtual tools::Workspace Connect(const support::Context& context) {
    return OpenInstance(options_, pins_, context);
  }
  virtual void Start(const support::Context& context, const ReportStatus& report_status) {
    StartInstance(options_.name, context, report_status);
  }

 private:
  struct Attempts;

  const InstanceOptions& options_;
  const bool may_start_;
  const RetryTimes times_;
  const std::shared_ptr<paths::PinnedRoots> pins_ = std::make_shared<paths::PinnedRoots>();
  std::optional<support::Clock::time_point> failed_at_;
};

}  // namespace connection
