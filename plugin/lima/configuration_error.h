#pragma once

#include "support/errors.h"

/// Reads Lima's files on the host: instances and their configuration, mounts, ssh.config and
/// status. Does not depend on SSH or MCP.
namespace lima {

/// One of Lima's files or an instance's name is invalid. The message has the file, the entry and
/// what to do.
class ConfigurationError : public support::CallError {
 public:
  using CallError::CallError;
};

}  // namespace lima
