#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/arguments.h"
#include "configure/agents.h"

/// How `limactl mcp run` starts each agent so that nothing in the project can loosen its
/// confinement: in an empty directory of its own, with settings that the guest cannot reach, and
/// with the project's instructions as text. docs/agents.md says what each agent would read from a
/// project. Every setting was tried with the real agent; tests/clients/agents proves the whole.
namespace agents {

using configure::Words;

inline constexpr std::string_view kServer = configure::kServerName;

/// Instruction files of the project are cut after this many bytes.
inline constexpr std::size_t kMaximumInstructions = std::size_t{256} * 1024;

using Environment = std::map<std::string, std::string>;

/// What to start an agent for.
struct LaunchRequest {
  std::string project;              ///< absolute, without links
  std::string directory;            ///< the agent's working directory, named like the project
  std::string home;                 ///< for what the agent keeps between sessions
  std::string control;              ///< for the settings of sessions with the same options
  std::vector<std::string> server;  ///< the command that serves the project
  Environment server_environment;   ///< the server's part of `environment`
  std::vector<std::string> tools;   ///< the names of the server's tools
  std::chrono::seconds call_timeout{660};  ///< longer than the server lets a command run
  bool trust = false;       ///< the agent need not ask before it calls a tool of the server
  Environment environment;  ///< this program's
  std::vector<std::string> arguments;  ///< the user's for the agent, checked
};

struct SessionFile {
  std::string path;  ///< absolute
  std::string text;
};

/// A link to a file or directory of the user's own.
struct SessionLink {
  std::string path;  ///< absolute
  std::string target;
};

/// How to start the agent.
struct Launch {
  std::vector<std::string> arguments = {};  ///< after the program's name
  Environment environment = {};             ///< all of it
  std::vector<SessionFile> files = {};
  std::vector<SessionLink> links = {};
};

using Version = std::array<int, 3>;

/// The first MAJOR.MINOR.PATCH in a text; empty if there is none.
std::optional<Version> ParseVersion(std::string_view text);

std::string ToString(const Version& version);

/// An agent that `limactl mcp run` can start.
struct ConfinedAgent {
  std::string_view name;         ///< of the program, which prints its version with --version
  std::string_view title;        ///< for people
  std::string_view package;      ///< on npm
  std::string_view update = {};  ///< the command of its own installer; may be empty
  bool has_settings_in_directory = false;  ///< so each set of options needs its own
  Version oldest;  ///< that can be confined; docs/agents.md names those tried
  Launch (*launch)(const LaunchRequest& request);
  /// Arguments of the agent that print what `use_output` adds to the launch; empty: none. They run
  /// with the launch's files, environment and directory.
  std::vector<std::string> query = {};
  void (*use_output)(const LaunchRequest& request, const std::string& output,
                     Launch& launch) = nullptr;
  ArgumentRules rules;
  /// The user's files and directories that the agent reads settings from, absolute.
  std::vector<std::string> (*settings)(const Environment& environment);
};

/// A shell line that updates `agent`, or words that say what to do. `program` is its file with
/// links resolved, which shows how it was installed.
std::string UpdateCommand(const ConfinedAgent& agent, const std::string& program);

/// In alphabetical order.
std::span<const ConfinedAgent> ConfinedAgents();

ConfinedAgent ClaudeAgent();
ConfinedAgent CodexAgent();
ConfinedAgent GeminiAgent();
ConfinedAgent OpencodeAgent();

// What several launches need.

/// This program's.
Environment OwnEnvironment();

/// `fallback` if the variable is missing or empty.
std::string Value(const Environment& environment, const std::string& name,
                  const std::string& fallback = "");

/// Removes variables by their names between spaces; "A*" removes all that begin with "A".
void Unset(Environment& environment, std::string_view names);

/// The instructions for the model: where the project is, `users` (the user's own), and the text of
/// the project's files `names`, which lie at its top. A random line ends each, so that no file can
/// pretend to end earlier. Only regular files are read, since a link may
/// lead to a file that the guest must not see. Bytes that are not UTF-8 are replaced.
std::string Instructions(const LaunchRequest& request, std::string_view names,
                         std::string_view users = "");

}  // namespace agents
