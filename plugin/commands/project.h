#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/commands.h"
#include "support/join.h"

/// What `configure` and `run` both need.
namespace commands {

/// The agent that the first positional argument names. Throws UsageError, which lists `agents` and
/// ends with `hint`.
template <typename Agent>
const Agent& FindAgent(std::span<const Agent> agents, const std::vector<std::string>& positional,
                       const std::string& hint = "") {
  std::vector<std::string> names;
  for (const Agent& agent : agents) {
    if (!positional.empty() && agent.name == positional.front()) return agent;
    names.emplace_back(agent.name);
  }
  throw UsageError(
      (positional.empty() ? "which agent?" : "unknown agent \"" + positional[0] + "\".") +
      " There are: " + support::Join(names) + hint);
}

/// The current directory, links resolved. Throws UsageError if it is gone, or is `/` or the user's
/// home directory: an agent would get all of it. `otherwise` ends the text for the latter.
std::filesystem::path FindProject(const std::string& home, std::string_view otherwise = "");

/// Throws UsageError if one of the words is not UTF-8, which settings must be.
void RequireUtf8(const std::vector<std::string>& words);

/// How long an agent waits for a result: longer than a command may run.
std::chrono::seconds CallTimeout(std::chrono::milliseconds command_timeout);

/// The names of the server's tools.
std::vector<std::string> ToolNames();

}  // namespace commands
