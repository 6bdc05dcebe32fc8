#pragma once

#include <functional>
#include <string>

#include "tools/workspace.h"

namespace connection {

struct OpenedConnection {
  tools::Workspace workspace;
  /// False once the connection is known to be dead. Any thread.
  std::function<bool()> alive;
};

/// Reports what is waited for, for a progress notification: "connecting to …". On the thread that
/// opens connections.
using ReportStatus = std::function<void(const std::string&)>;

}  // namespace connection
