#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configure/settings.h"

/// The settings with which each agent starts this program and does without its own file and shell
/// tools. Facts come from the agents' documentation and from the agents (tests/clients).
namespace configure {

/// How long Codex waits for the server to start. Its default of 10 s is short on a busy machine.
inline constexpr int kStartupTimeoutSeconds = 60;

/// Directories of the user's own settings, absolute. A relative variable is ignored.
struct UserDirectories {
  std::string home;
  std::string config;       ///< $XDG_CONFIG_HOME, else home/.config
  std::string gemini_home;  ///< $GEMINI_CLI_HOME, else home
  std::string codex_home;   ///< $CODEX_HOME, else home/.codex
  std::string claude_home;  ///< $CLAUDE_CONFIG_DIR; empty: home/.claude and home/.claude.json
  std::string vscode_user;  ///< the directory "User" of Visual Studio Code
};

struct Request {
  std::string instance;
  bool user = false;           ///< for all projects, in the user's own settings
  bool project_files = false;  ///< only in files of the project
  bool trust = false;          ///< the agent need not ask before it calls a tool of the server
  std::string project_key;     ///< the project's git root, by which Claude Code knows a project
  std::vector<std::string> launch;   ///< starts the server: {"limactl", "mcp", "serve"}
  std::vector<std::string> options;  ///< of `serve`, after the instance
  /// How long an agent waits for a result: longer than the server lets a command run.
  int timeout_seconds = 600;
  std::optional<std::string> lima_home;
  std::vector<std::string> tools;  ///< the names of the server's tools
  UserDirectories directories;
};

struct AgentSettings {
  /// In the order to write them: its own tools are off before it has the server.
  std::vector<SettingsFile> files;
  /// Of an agent whose file is not edited: the user runs them to add and to remove the server.
  std::vector<std::string> add_command = {};
  std::vector<std::string> remove_command = {};
  std::vector<std::string> notes = {};  ///< what the user must know, a sentence each
};

struct Agent {
  std::string_view name;   ///< on the command line
  std::string_view title;  ///< for people
  // It is installed if there is one of these programs on PATH, or directories in the home.
  std::string_view programs;  ///< between spaces
  std::vector<std::string_view> directories;
  AgentSettings (*settings)(const Request& request);
  bool can_run = false;         ///< `limactl mcp run` can start it
  bool keeps_projects = false;  ///< stores settings of a project in the user's own files
};

/// All agents, in alphabetical order.
std::span<const Agent> Agents();

/// The rules for opencode's tools, in order: the last one that matches counts. opencode merges its
/// settings, where a key of the user's keeps its place. Nobody else writes keys like these, with
/// "*" at the end, so they come last. `task` is denied: its prompt can include files of the host.
Json OpencodePermission(bool trust);

/// The words of a text between spaces and line breaks.
std::vector<std::string_view> Words(std::string_view text);

}  // namespace configure
