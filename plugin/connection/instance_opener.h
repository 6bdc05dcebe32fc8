#pragma once

#include <optional>

#include "connection/instance.h"
#include "connection/limactl_start.h"
#include "connection/opened_connection.h"
#include "paths/roots.h"
#include "support/context.h"

namespace connection {

/// How long connecting is retried.
struct RetryTimes {
  using Duration = support::Clock::duration;

  /// For one connection, all attempts together: a booting virtual machine has files long before its
  /// sshd listens, and a busy sshd drops connections (MaxStartups). Clients time out after 60 s at
  /// the earliest.
  Duration total = std::chrono::seconds(45);

  /// The same if the last connection failed less than `memory` ago, so that a dead guest does not
  /// cost every call the whole time.
  Duration after_failure = std::chrono::seconds(5);
  Duration memory = std::chrono::minutes(1);

  /// An instance looks broken for a moment while it starts or stops.
  Duration broken = std::chrono::seconds(5);

  /// Between attempts; doubles each time, minus a random part of up to a half. OpenSSH since 9.8
  /// blocks an address that reconnects too fast (PerSourcePenalties).
  Duration first_pause = std::chrono::milliseconds(100);
  Duration longest_pause = std::chrono::seconds(3);
};

/// Opens connections to one instance: retries while its VM boots, and starts it if allowed. Keeps
/// what must outlive a connection. One thread.
class InstanceOpener {
 public:
  /// `may_start`: a stopped instance is started (`--start`). `options` must outlive this.
  InstanceOpener(const InstanceOptions& options, bool may_start, const RetryTimes& times = {});
  virtual ~InstanceOpener() = default;
  InstanceOpener(const InstanceOpener&) = delete;
  InstanceOpener& operator=(const InstanceOpener&) = delete;

  /// Attempts that throw support::ConnectionLost are repeated, and for a while those that find a
  /// broken instance. Returns within about `total` and `broken`; twice that and the time of the
  /// start if the instance is started. Throws what the last attempt threw, support::Stopped.
  OpenedConnection Open(const support::Context& context, const ReportStatus& report_status);

 protected:
  // For tests.
  virtual OpenedConnection Connect(const support::Context& context) {
    return OpenInstance(options_, pins_, context);
  }
  virtual void Start(const support::Context& context, const ReportStatus& report_status) {
    start_.Run(context, report_status);
  }

 private:
  class Attempts;

  const InstanceOptions& options_;
  const bool may_start_;
  const RetryTimes times_;
  paths::PinnedRoots pins_;
  LimactlStart start_;
  std::optional<support::Clock::time_point> failed_at_;
};

}  // namespace connection
