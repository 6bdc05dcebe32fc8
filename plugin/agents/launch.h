#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// How `limactl mcp run` starts each agent so that nothing in the project can loosen its
/// confinement: in an empty directory of its own, with settings that lie where the guest cannot
/// reach them, and with the project's instructions handed over as text. docs/agents.md says what
/// each agent would read from a project.
namespace agents {

/// What the server is called in every agent's settings. Gemini CLI takes no '_' in it.
inline constexpr std::string_view kServer = "lima";

using Environment = std::map<std::string, std::string>;

/// What an agent is to be started for. The directories are SessionPlaces'.
struct LaunchRequest {
  std::string project;                     ///< absolute, without links
  std::string directory;                   ///< the agent's working directory
  std::string home;                        ///< for what the agent keeps
  std::string control;                     ///< for its settings
  std::vector<std::string> server;         ///< the command that serves the project
  Environment server_environment;          ///< what the server needs of this program's environment
  std::vector<std::string> tools;          ///< the names of the server's tools
  std::chrono::seconds call_timeout{660};  ///< more than the server lets a command run
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

}  // namespace agents
