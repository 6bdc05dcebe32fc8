#include "agents/confined_agent.h"

#include <array>
#include <charconv>

#include "agents/agents.h"

namespace agents {

std::optional<Version> ParseVersion(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return std::nullopt;
  const char* at = text.data() + first;
  const char* const end = text.data() + text.size();
  Version version;
  for (int* number : {&version.major, &version.minor, &version.patch}) {
    const auto [next, error] = std::from_chars(at, end, *number);
    if (error != std::errc()) return std::nullopt;
    at = next;
    if (number != &version.patch && (at == end || *at++ != '.')) return std::nullopt;
  }
  return version;
}

std::string ToString(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
         std::to_string(version.patch);
}

std::string Value(const Environment& environment, const std::string& name) {
  const auto entry = environment.find(name);
  return entry == environment.end() ? "" : entry->second;
}

std::string ValueOr(const Environment& environment, const std::string& name,
                    const std::string& fallback) {
  const std::string value = Value(environment, name);
  return value.empty() ? fallback : value;
}

void Unset(Environment& environment, std::span<const std::string_view> names) {
  std::erase_if(environment, [&](const auto& variable) {
    for (const std::string_view name : names) {
      const bool is_prefix = name.ends_with('*');
      if (is_prefix ? variable.first.starts_with(name.substr(0, name.size() - 1))
                    : variable.first == name) {
        return true;
      }
    }
    return false;
  });
}

std::string Preamble(const LaunchRequest& request) {
  return "The project is the directory " + request.project +
         ", in a virtual machine. Use the tools of the MCP server " + std::string(kServer) +
         " for all its files and for all commands; they take absolute paths. You have no other "
         "access to files and no other shell. Your own working directory on the host is empty: "
         "ignore it.\n";
}

std::span<const ConfinedAgent> ConfinedAgents() {
  static const std::array kAgents = {ClaudeAgent(), CodexAgent(), GeminiAgent(), OpencodeAgent()};
  return kAgents;
}

}  // namespace agents
