#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "support/join.h"

/// What the files of several agents need.
namespace agents {

using configure::Json;
using configure::SettingsFile;
using paths::RunBy;
using paths::Writing;
using support::Changed;
using support::ConfigHome;
using support::Value;
using support::Words;

// The project: command-line agents start servers in their own working directory, editors replace
// the variable by the folder that is open.
inline constexpr const char* kWorkingDirectory = ".";
inline constexpr const char* kWorkspaceFolder = "${workspaceFolder}";

inline constexpr const char* kTrustInEditor =
    "--trust: allow the server's tools in the editor itself.";

/// The project's file or the user's.
std::string Path(const SettingsRequest& request, std::string_view project, const std::string& user);

/// With "--root" and `root`, unless there is such an option, or "--copy".
std::vector<std::string> ServerCommand(const ServerRequest& request, std::string_view root);

/// The entry that most agents read: "command", "args" and, if it needs one, "env".
Json CommandEntry(const ServerRequest& request, std::string_view root);

/// The instructions for the model: where the project is, `users` (the user's own), and the text of
/// the project's files `names`, which lie at its top. A random line ends each, so that no file can
/// pretend to end earlier. Only regular files are read, since a link may lead to a file that the
/// guest must not see. Bytes that are not UTF-8 are replaced.
std::string Instructions(const LaunchRequest& request, std::string_view names,
                         std::string_view users = "");

}  // namespace agents
