#pragma once

#include <filesystem>
#include <string>

#include "lima/configuration.h"

/// The instance that an agent works in, before it is connected to.
namespace commands {

/// As lima::RequireInstance, but the error for a missing "agent" has the command that creates it
/// without mounts.
void RequireInstance(const std::filesystem::path& lima_home, const std::string& name);

/// The same, but on a terminal offers to create "agent", and creates it. Throws support::CallError.
void OfferInstance(const std::filesystem::path& lima_home, const std::string& name);

/// Starts it if it is stopped, and says so on standard error. Throws support::CallError.
void StartIfStopped(const lima::InstanceConfiguration& configuration);

}  // namespace commands
