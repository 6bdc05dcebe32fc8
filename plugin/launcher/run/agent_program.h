// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "agents/agent.h"
#include "exposure/guest_reach.h"
#include "support/environment.h"

namespace run {

/// The agent's program on `path`, outside of what the guest can write. Throws support::Error if
/// there is none.
std::filesystem::path FindAgentProgram(const agents::Agent& agent, const std::string& path,
                                       const exposure::GuestReach& reach);

/// Throws support::Error if the program is too old to be confined. Queries it in `/`, where it
/// reads no project's files; changes the directory and environment of this process.
void RequireVersion(const agents::Agent& agent, const std::filesystem::path& program,
                    const support::Environment& environment);

/// Becomes the agent.
[[noreturn]] void Start(const agents::Agent& agent, const agents::LaunchRequest& request,
                        const std::filesystem::path& program);

}  // namespace run
