#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/launch.h"

namespace agents {

/// MAJOR.MINOR.PATCH.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The first version in a text; empty if there is none.
std::optional<Version> ParseVersion(std::string_view text);

std::string ToString(const Version& version);

/// An agent that `limactl mcp run` can start.
struct ConfinedAgent {
  std::string_view name;     ///< on the command line of `run`
  std::string_view title;    ///< for people
  std::string_view program;  ///< on the search path; prints its version with --version
  std::string_view package;  ///< on npm
  Version oldest;            ///< that can be confined; docs/agents.md names those tried
  Launch (*launch)(const LaunchRequest& request);
  /// A command of the agent's whose output the launch needs, run with the launch's files,
  /// environment and directory; empty: none. `use_output` then adds to the launch.
  std::vector<std::string> query = {};
  void (*use_output)(const LaunchRequest& request, const std::string& output,
                     Launch& launch) = nullptr;
  /// Why an argument of the user's would undo the confinement; empty if none would.
  std::optional<std::string> (*find_refused)(std::span<const std::string> arguments);
  /// Files and directories of the user's own that the agent reads settings from, absolute.
  std::vector<std::string> (*settings)(const Environment& environment);
};

/// All of them, in alphabetical order.
std::span<const ConfinedAgent> ConfinedAgents();

}  // namespace agents
