#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configure/settings.h"

/// What each agent reads, so that it starts this program and leaves its own file and shell tools
/// alone. Facts from the agents' documentation and, where there is one to run, from the agent
/// itself (tests/clients).
namespace configure {

/// What the server is called in every agent's settings. Gemini CLI takes no '_' in it.
inline constexpr std::string_view kServerName = "lima";

/// How long an agent waits for the answer to a call: more than the server lets a command run.
inline constexpr int kClientTimeoutSeconds = 600;

/// How long Codex waits for the server's first answer; its own 10 s are little on a busy machine.
inline constexpr int kStartupTimeoutSeconds = 60;

/// Where users have their own settings. Absolute, unless a variable says otherwise.
struct Places {
  std::string home;
  std::string config;       ///< $XDG_CONFIG_HOME, else home/.config
  std::string gemini_home;  ///< $GEMINI_CLI_HOME, else home
  std::string codex_home;   ///< $CODEX_HOME, else home/.codex
  std::string claude_home;  ///< $CLAUDE_CONFIG_DIR; empty: home/.claude and home/.claude.json
  std::string vscode_user;  ///< the directory "User" of Visual Studio Code
};

/// What an agent is configured for.
struct Request {
  std::string instance;
  /// For every project, in the user's own files, rather than for one.
  bool user = false;
  /// In files of the project only, also if the agent keeps settings of a project elsewhere.
  bool project_files = false;
  /// The directory under which such an agent keeps them: the project's git root.
  std::string project_key;
  /// The agent need not ask before it calls the server's tools.
  bool trust = false;
  /// What starts the server, up to the instance's name: {"limactl", "mcp", "serve"}.
  std::vector<std::string> launch;
  std::optional<std::string> lima_home;
  std::vector<std::string> tools;  ///< the names of the server's tools
  Places places;
};

struct Agent {
  std::string_view name;                      ///< on the command line
  std::string_view title;                     ///< for people
  std::vector<std::string_view> programs;     ///< on the search path where it is installed
  std::vector<std::string_view> directories;  ///< or in the user's home, where it was run
  /// In the order in which they are written: first what switches tools off, then the server.
  std::vector<SettingsFile> (*files)(const Request& request);
  /// What the user must know, a sentence each.
  std::vector<std::string> (*notes)(const Request& request);
  bool can_run = false;         ///< `limactl mcp run` starts it, confined better than by settings
  bool keeps_projects = false;  ///< has settings of one project in the user's own files
};

/// All agents, in alphabetical order.
std::span<const Agent> Agents();

/// Null when there is none of that name.
const Agent* FindAgent(std::string_view name);

}  // namespace configure
