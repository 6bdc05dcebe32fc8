#pragma once

#include <string>
#include <string_view>

#include "agents/agent.h"

/// What `configure` writes for several agents.
namespace agents {

// The project: command-line agents start servers in their own working directory, editors replace
// the variable by the folder that is open.
inline constexpr std::string_view kWorkingDirectory = ".";
inline constexpr std::string_view kWorkspaceFolder = "${workspaceFolder}";

inline constexpr const char* kTrustInEditor =
    "--trust: allow the server's tools in the editor itself.";

/// kServer.
std::string Server();

/// The project's file or the user's.
std::string Path(const SettingsRequest& request, std::string_view project, const std::string& user);

/// The words of the command from number `first` on.
configure::Json ArgumentsFrom(const SettingsRequest& request, std::size_t first,
                              std::string_view root);

/// Adds LIMA_HOME as member `name` of the entry, if it is set.
void AddEnvironment(const SettingsRequest& request, const char* name, configure::Json& entry);

/// The entry that most agents read.
configure::Json CommandEntry(const SettingsRequest& request, std::string_view root);

}  // namespace agents
