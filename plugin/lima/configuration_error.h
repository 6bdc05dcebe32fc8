#pragma once

#include "support/errors.h"

/// What Lima keeps on the host: its home, instances, their configuration, mounts, connection and
/// status. Knows nothing of SSH sessions or of MCP.
namespace lima {

/// A file of Lima's, or a name given for an instance, cannot be used. The text names the file and
/// the entry, and says what to do.
class ConfigurationError : public support::CallError {
 public:
  using CallError::CallError;
};

}  // namespace lima
