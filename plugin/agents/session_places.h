#pragma once

#include <span>
#include <string>
#include <string_view>

#include "agents/launch.h"

namespace agents {

/// Directories of one agent and project. Nobody but this user can read them.
struct SessionPlaces {
  std::string directory;  ///< the agent's working directory, named like the project
  std::string home;       ///< for what the agent keeps between sessions
  std::string control;    ///< for the settings of sessions with the same options
};

/// Below `$XDG_STATE_HOME/limactl-mcp/run/AGENT/PROJECT`, where PROJECT is a digest. Only `control`
/// depends on the options, so that the agent finds its earlier sessions again. Throws
/// support::CallError without a home directory.
SessionPlaces FindSessionPlaces(const Environment& environment, std::string_view agent,
                                const std::string& project, std::span<const std::string> options);

/// Makes the directories and writes the launch's files and links, each as a whole. Throws
/// std::filesystem::filesystem_error or std::system_error.
void WriteSessionFiles(const SessionPlaces& places, const Launch& launch);

}  // namespace agents
