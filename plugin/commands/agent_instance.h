#pragma once

#include <filesystem>
#include <string>

#include "lima/configuration.h"

namespace commands {

/// As lima::RequireInstance, but "agent" is created without mounts: the error for a missing one has
/// the command, and with `offers`, on a terminal, the user is asked. Throws support::CallError.
void RequireInstance(const std::filesystem::path& lima_home, const std::string& name,
                     bool offers = false);

/// Starts it if it is stopped, and says so on standard error. Throws support::CallError.
void StartIfStopped(const lima::InstanceConfiguration& configuration);

}  // namespace commands
