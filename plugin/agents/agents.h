#pragma once

#include <span>
#include <string>
#include <string_view>

#include "agents/confined_agent.h"
#include "agents/launch.h"

/// Each agent, and what their launches have in common. Every setting was tried with the real agent;
/// tests/clients/agents proves the whole with planted traps.
namespace agents {

ConfinedAgent ClaudeAgent();
ConfinedAgent CodexAgent();
ConfinedAgent GeminiAgent();
ConfinedAgent OpencodeAgent();

/// Empty if the variable is not set.
std::string Value(const Environment& environment, const std::string& name);

/// `fallback` if the variable is not set or empty.
std::string ValueOr(const Environment& environment, const std::string& name,
                    const std::string& fallback);

/// Removes variables; a name that ends with '*' stands for all with that prefix.
void Unset(Environment& environment, std::span<const std::string_view> names);

/// The first words of the instructions for the model: where the project is.
std::string Preamble(const LaunchRequest& request);

}  // namespace agents
