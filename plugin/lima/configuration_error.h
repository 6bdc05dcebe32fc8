#pragma once

#include "support/errors.h"

/// What Lima keeps on the host: its home, instances, their configuration, mounts, connection and
/// status. Knows nothing of SSH sessions or MCP.
namespace lima {

/// A file of Lima's, or an instance's name, cannot be used. The text names the file and the entry,
/// and says what to do.
class ConfigurationError : public support::CallError {
 public:
  using CallError::CallError;
};

}  // namespace lima
