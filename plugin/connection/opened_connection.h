#pragma once

#include <functional>
#include <string>

#include "tools/workspace.h"

namespace connection {

struct OpenedConnection {
  tools::Workspace workspace;
  /// False once the connection is known to be lost. Any thread.
  std::function<bool()> alive;
};

/// Reports a status such as "connecting to …" for progress notifications. Called on the thread that
/// opens connections.
using ReportStatus = std::function<void(const std::string&)>;

}  // namespace connection
