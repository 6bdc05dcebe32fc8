#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"

/// The server in agents' settings, and what else `configure` writes for several agents.
namespace agents {

using Kind = configure::Change::Kind;
using configure::Json;
using configure::SettingsFile;
using paths::RunBy;
using paths::Writing;

// The project: command-line agents start servers in their own working directory, editors replace
// the variable by the folder that is open.
inline constexpr const char* kWorkingDirectory = ".";
inline constexpr const char* kWorkspaceFolder = "${workspaceFolder}";

inline constexpr const char* kTrustInEditor =
    "--trust: allow the server's tools in the editor itself.";

/// The project's file or the user's.
std::string Path(const SettingsRequest& request, std::string_view project, const std::string& user);

std::vector<std::string> ServerCommand(const SettingsRequest& request, const char* root);

/// The entry that most agents read: "command" and "args".
Json CommandEntry(const std::vector<std::string>& command);

/// The same with "env", if LIMA_HOME is set.
Json CommandEntry(const SettingsRequest& request, const char* root);

}  // namespace agents
