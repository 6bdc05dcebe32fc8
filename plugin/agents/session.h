#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "agents/agent.h"

namespace agents {

/// Directories of one agent and project, for this user alone.
struct SessionPlaces {
  std::string directory;  ///< the agent's working directory, named like the project
  std::string home;       ///< for what the agent keeps between sessions
  std::string control;    ///< for the settings of sessions with the same options
};

/// Below STATE/run/AGENT/PROJECT, where PROJECT is a digest. Only `control` depends on the options,
/// so that the agent finds its earlier sessions again.
SessionPlaces FindSessionPlaces(const std::filesystem::path& state, std::string_view agent,
                                const std::string& project, std::span<const std::string> options);

/// Makes the directories, and writes the launch's files and links, each as a whole. Throws
/// support::CallError or std::filesystem::filesystem_error.
void WriteSessionFiles(const SessionPlaces& places, const Launch& launch);

}  // namespace agents
