#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "lima/configuration.h"
#include "paths/guest_reach.h"

/// What `run` checks before it starts an agent. Each throws support::CallError.
namespace commands {

/// Throws if the mounts of `configuration` are not those of the running VM, or let the guest out.
/// Warns of what else the guest can reach.
void CheckInstance(const lima::InstanceConfiguration& configuration,
                   const std::vector<lima::Mount>& mounts, const std::string& project,
                   const agents::Environment& environment);

/// Throws if the guest could change what decides what the agent may do, also through links. Warns
/// of links in the user's home directory that lead into a mount.
void RequireOutOfReach(const agents::Agent& agent, const agents::LaunchRequest& request,
                       const lima::InstanceConfiguration& configuration,
                       const paths::GuestReach& reach);

/// Removes variables that name files in the guest's reach, with a warning. Leaves HOME, LIMA_HOME
/// and PATH, which are checked by themselves.
void DropNamedFiles(const paths::GuestReach& reach, agents::Environment& environment);

}  // namespace commands
