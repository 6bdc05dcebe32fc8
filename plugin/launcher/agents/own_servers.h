// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "agents/agent.h"
#include "exposure/guest_reach.h"

/// The user's own MCP servers, which `limactl mcp run` adds beside ours: in the guest, or on the
/// host.
namespace agents {

/// `--mcp NAME=COMMAND`. Throws support::Error.
void AddGuestServer(const std::string& value, LaunchRequest& request);

/// `--host-mcp NAME`. Throws support::Error if the agent cannot be made to ask, if the user has
/// no such server, if it is reached by a relative path, or if the guest could change it.
void AddHostServer(const std::string& name, const Agent& agent, const exposure::GuestReach& reach,
                   LaunchRequest& request);

/// Throws support::Error if the user's own settings, as far as they are in effect in a session,
/// name a file that the guest can write.
void RequireSafeSettings(const Agent& agent, const exposure::GuestReach& reach,
                         const Environment& environment);

/// The server's entry, with "command" and "args" for one in the guest.
Json OwnEntry(const LaunchRequest& request, const OwnServer& server);

/// Whether the agent need not ask before it calls the server: never for one on the host.
bool IsTrusted(const LaunchRequest& request, const OwnServer& server);

/// The scripts that start the servers in the guest, by path. A script, since agents replace
/// variables in the commands of their settings.
std::map<std::string, std::string> GuestScripts(const LaunchRequest& request);

}  // namespace agents
