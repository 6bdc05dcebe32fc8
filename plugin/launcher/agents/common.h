// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "support/join.h"
#include "support/words.h"

/// Shared by the files of several agents.
namespace agents {

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

/// The server's command, with "--root" and `root` unless it has such an option or "--copy".
std::vector<std::string> ServerCommand(const ServerRequest& request, std::string_view root);

/// The entry that most agents read: "command", "args" and, if it needs one, "env".
Json CommandEntry(const ServerRequest& request, std::string_view root);

/// How long a call may take.
std::string Milliseconds(const ServerRequest& request);

/// `command` for a terminal adds the server.
Step AddServer(const std::vector<std::string>& command);

/// The same by a command that begins with `words`, takes variables as `--env NAME=VALUE`, and ends
/// with `--` and the rest of the server's command after its first `given` words.
Step AddServer(std::vector<std::string> words, const ServerRequest& request, int given = 0);

/// `text` says which file has these settings then.
Step AddSettings(std::string_view text, const Json& settings);

/// Larger files of settings are refused.
inline constexpr std::size_t kMaxSettingsBytes = std::size_t{16} << 20;

/// JSON as agents read it: with comments and trailing commas. Throws support::Error, whose
/// text follows the file's name and begins with the line, ":2: ".
Json ParseJson(std::string text);

/// The JSON of a file of the user's; an empty object if there is none. Throws support::Error.
Json ReadSettings(const std::string& path);

/// The values for `keys` in the JSON files `paths`, of which later ones count more. Leaves out,
/// with a warning for the user of the agent `title`, a file that cannot be read.
Json ChosenSettings(std::string_view title, const std::vector<std::string>& paths,
                    std::string_view keys);

/// The files of an empty git repository in `directory`, by path.
std::map<std::string, std::string> EmptyRepository(const std::string& directory);

/// The instructions for the model: where the project is, `users` (the user's own), and the text of
/// the project's files `names`. A random line ends each, so that no file can pretend to end
/// earlier. Only regular files are read, and no link is followed, since it may lead to a file that
/// the guest must not see. Bytes that are not UTF-8 are replaced.
std::string Instructions(const LaunchRequest& request, std::string_view names,
                         std::string_view users = "");

}  // namespace agents
