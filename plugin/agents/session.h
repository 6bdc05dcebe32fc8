#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "agents/agent.h"

/// The directories of one agent and project, for this user alone.
namespace agents {

/// This program's directory below $XDG_STATE_HOME, or below $HOME if that is not absolute. Throws
/// support::CallError.
std::filesystem::path StateDirectory(const Environment& environment);

/// Sets the directories of `request`, whose project, server and trust are set. They are below
/// STATE/run/AGENT/PROJECT, where PROJECT is a digest. If possible only `control` depends on the
/// options, so that the agent finds its earlier sessions again.
void SetDirectories(const std::filesystem::path& state, const Agent& agent, LaunchRequest& request);

/// Makes the directories, and writes the launch's files and links, each as a whole. Throws
/// support::CallError or std::filesystem::filesystem_error.
void WriteSessionFiles(const LaunchRequest& request, const Launch& launch);

}  // namespace agents
