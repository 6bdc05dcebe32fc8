// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/arguments.h"
#include "mcp/tool.h"
#include "paths/host_programs.h"
#include "support/environment.h"
#include "support/version.h"

/// All that is known of each agent: a file for each. Facts come from the agents' documentation and
/// from the agents; tests/clients/agents tries them.
namespace agents {

/// Objects keep the order of their members.
using Json = nlohmann::ordered_json;

/// The server's name for every agent. Gemini CLI allows no '_' in it.
inline constexpr const char* kServer = "lima";

/// Most bytes of a file of instructions. A larger one is left out, with a warning.
inline constexpr std::size_t kMaxInstructions = std::size_t{256} * 1024;

using support::Environment;

/// The server, for an agent.
struct ServerRequest {
  std::vector<std::string> server;         ///< the command; the settings add --root if it has none
  Environment server_environment;          ///< the part of `environment` that it needs
  std::vector<std::string> tools;          ///< the names of its tools
  std::chrono::seconds call_timeout{600};  ///< longer than the server lets a command run
  Environment environment;                 ///< this program's
};

/// An MCP server of the user's own, beside ours.
struct OwnServer {
  std::string name;
  std::string command = {};  ///< for sh in the guest; empty: it runs on the host
  Json entry = {};           ///< of the user's settings, if it runs on the host

  [[nodiscard]] bool IsInGuest() const { return !command.empty(); }
};

struct LaunchRequest : ServerRequest {
  std::string project;                 ///< absolute, without links
  std::string agents_path;             ///< the project's for the agent: the guest's, if named
  std::string working_directory;       ///< the agent's: empty, and named like the project
  std::string agent_home;              ///< what the agent keeps between sessions
  std::string settings_directory;      ///< the settings that sessions with the same options share
  std::vector<std::string> arguments;  ///< the user's for the agent, checked
  bool trust = false;                  ///< the agent need not ask before it calls the server
  std::vector<OwnServer> servers;
  std::vector<std::string> guest_shell;  ///< before a command for the project's copy or mount
  std::optional<Json> own_servers;       ///< of the user's settings, if they were asked for
};

/// How to start the agent. Paths are absolute.
struct Launch {
  std::vector<std::string> arguments = {};        ///< after the program's name
  Environment environment = {};                   ///< all of it
  std::map<std::string, std::string> files = {};  ///< texts by path
  std::map<std::string, std::string> links = {};  ///< the user's own files, if there, by path
};

/// A file or directory of the user's own.
struct OwnPath {
  std::string_view variable;   ///< names the directory, if it is an absolute path
  std::string_view directory;  ///< otherwise, below the home
  std::string_view rest = {};  ///< below the directory

  [[nodiscard]] std::string In(const Environment& environment) const;
};

/// How `limactl mcp run` starts an agent so that nothing in the project can loosen its confinement:
/// in an empty directory of its own, with settings that the guest cannot reach, and with the
/// project's instructions as text. docs/agents.md says what each would read from a project.
struct Confinement {
  std::string_view package;      ///< on npm
  std::string_view update = {};  ///< the command of its own installer; may be empty
  support::Release oldest;       ///< that can be confined; docs/agents.md names those tried
  /// Arguments that print the version of the program that `launch` starts.
  std::vector<std::string> version = {"--version"};
  bool has_settings_in_directory = false;  ///< so each set of options needs its own
  Launch (*launch)(const LaunchRequest& request);
  /// Arguments of the agent that print what `use_output` adds to the launch; empty: none. They run
  /// with the launch's files, environment and directory.
  std::vector<std::string> query = {};
  void (*use_output)(const LaunchRequest& request, const std::string& output,
                     Launch& launch) = nullptr;
  ArgumentRules rules;
  /// Whether, with these arguments, it works on during a slow call and is told of its end.
  bool (*works_on)(const std::vector<std::string>&) = [](const auto&) { return false; };
  std::vector<OwnPath> own_settings;  ///< the user's files that the agent reads
  /// The part of `own_settings` that a session obeys and that may name programs. Null: nothing.
  Json (*obeyed_settings)(const Environment& environment) = nullptr;
  /// The entries of the user's own servers by name, of the user's settings alone. Null: the agent
  /// cannot be made to ask before each call of one.
  Json (*own_servers)(const Environment& environment) = nullptr;
};

/// What the user does to give an agent the server, or to switch its own tools off.
struct Step {
  std::string text;        ///< a sentence
  std::string lines = {};  ///< what to run in a terminal, or to put into a file
};

struct Agent {
  std::string_view name;                  ///< on the command line
  std::string_view title;                 ///< for people
  std::string_view programs;              ///< between spaces; it is installed if PATH has one
  std::vector<std::string_view> clients;  ///< with which its name as an MCP client begins
  /// How much of a result it shows to its model, in bytes. Somewhat less than that, so that the
  /// tools' last line is shown too.
  std::size_t shown_bytes = mcp::ResultFormat().text_bytes;
  std::vector<paths::HostProgram> obeys;                      ///< files of the project
  std::vector<Step> (*set_up)(const ServerRequest& request);  ///< for `limactl mcp configure`
  std::optional<Confinement> run = {};                        ///< if `limactl mcp run` can start it
};

/// All agents, in alphabetical order.
std::span<const Agent> Agents();

Agent Claude();
Agent Codex();
Agent Copilot();
Agent Cursor();
Agent Gemini();
Agent Opencode();
Agent Vscode();
Agent Zed();

/// The files of a project that the agents obey.
std::vector<paths::HostProgram> ObeyedFiles();

/// How results are encoded for the client of this name (`clientInfo`): as text for agents. `style`
/// overrides that.
mcp::ResultFormat FormatFor(std::string_view client,
                            std::optional<mcp::ResultStyle> style = std::nullopt);

/// A shell line that updates `agent`, or words that say what to do. `program` is its file with
/// links resolved, which shows how it was installed.
std::string UpdateCommand(const Confinement& agent, const std::string& program);

/// This program's directory below $XDG_STATE_HOME, or below $HOME if that is not absolute. Throws
/// support::Error.
std::filesystem::path StateDirectory(const Environment& environment);

/// Sets the directories of `request`, whose project, server and trust are set. They are below
/// STATE/run/AGENT/PROJECT, where PROJECT is a digest. If possible only `settings_directory`
/// depends on the options, so that the agent finds its earlier sessions again. They are for this
/// user alone.
void SetDirectories(const std::filesystem::path& state, const Agent& agent, LaunchRequest& request);

/// Makes the directories, and writes the launch's files and links, each as a whole. Throws
/// support::Error or std::filesystem::filesystem_error.
void WriteSessionFiles(const LaunchRequest& request, const Launch& launch);

}  // namespace agents
