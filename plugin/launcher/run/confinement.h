// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agents/agent.h"
#include "copy/instance.h"
#include "exposure/guest_reach.h"
#include "support/environment.h"

/// What `run` does between its options and the agent's exit.
namespace run {

/// Throws if the mounts of `configuration` are not those of the running VM, or let the guest out.
/// Warns of what else the guest can reach.
void CheckInstance(const copy::Instance& instance, const std::string& project,
                   const support::Environment& environment);

/// Throws if the guest of a closed instance reaches anything. Waits while it boots. Says on
/// standard error what is not in the guest.
void RequireClosed(const lima::InstanceConfiguration& configuration);

/// Throws if the guest could write more of this host than the project.
void RequireNarrowMounts(const copy::Instance& instance, const std::string& top);

/// Throws if the guest could change what decides what the agent may do, also through links. Warns
/// of links in the user's home directory that lead into a mount.
void RequireOutOfReach(const agents::Agent& agent, const agents::LaunchRequest& request,
                       const copy::Instance& instance);

/// Removes variables that name files in the guest's reach, with a warning. Leaves HOME, LIMA_HOME
/// and PATH, which are checked by themselves.
void DropNamedFiles(const exposure::GuestReach& reach, support::Environment& environment);

}  // namespace run
