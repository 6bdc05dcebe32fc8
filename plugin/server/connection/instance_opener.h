// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
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

/// Makes one attempt to connect to one instance, and keeps the state that outlives a connection.
/// One thread.
class InstanceOpener {
 public:
  /// For one attempt. No known client times out before 60 s.
  static constexpr std::chrono::seconds kTimeout{45};

  /// `may_start` (`--start`) allows starting a stopped instance. `options` must outlive this.
  InstanceOpener(const InstanceOptions& options, bool may_start)
      : options_(options), may_start_(may_start) {}

  /// Throws what OpenInstance and StartInstance throw, and support::Error after kTimeout.
  tools::Workspace Open(const support::Context& context, const ReportStatus& report_status);

 private:
  const InstanceOptions& options_;
  const bool may_start_;
  const std::shared_ptr<paths::PinnedRoots> pins_ = std::make_shared<paths::PinnedRoots>();
};

/// The same, but connects only to the guest, and never starts the VM.
tools::Workspace OpenGuest(const InstanceOptions& options, const support::Context& context);

}  // namespace connection
