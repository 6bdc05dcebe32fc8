#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "commands/commands.h"

/// What `configure` and `run` both need.
namespace commands {

/// The agent that the first positional argument names; with `can_run`, of those that `run` can
/// start. Throws UsageError, which lists them and ends with `hint`.
const agents::Agent& FindAgent(const std::vector<std::string>& positional, bool can_run,
                               const std::string& hint = "");

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
