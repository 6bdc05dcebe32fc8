#pragma once

#include <string>

#include "connection/instance.h"

namespace connection {

/// What `initialize` tells the agent before any connection exists: where it works, which host
/// directories it may use and how, and what to do about others. Reads Lima's files; when they
/// cannot be read, the text says so instead of a list. Never throws.
std::string Instructions(const InstanceOptions& options);

}  // namespace connection
