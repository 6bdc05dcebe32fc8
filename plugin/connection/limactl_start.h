#pragma once

#include <functional>
#include <string>

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
/// Throws support::CallError if limactl failed (with the end of its output) or is missing, and
/// support::Stopped; then the start continues.
void StartInstance(const std::string& name, const support::Context& context,
                   const ReportStatus& report_status);

}  // namespace connection
