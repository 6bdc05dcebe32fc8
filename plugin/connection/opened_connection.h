#pragma once

#include <functional>
#include <string>

#include "tools/workspace.h"

namespace connection {

/// A connection to the guest with all that calls need of it.
struct OpenedConnection {
  tools::Workspace workspace;
  /// False once the line is known to be dead. Called from any thread.
  std::function<bool()> alive;
};

/// Says what is being waited for, in words for a progress notification: "connecting to …". From the
/// thread that opens connections.
using Tell = std::function<void(const std::string&)>;

}  // namespace connection
