// SPDX-License-Identifier: Apache-2.0
#include "agents/agent.h"

#include <array>

#include "support/format.h"

namespace agents {

std::span<const Agent> Agents() {
  static const std::array kAgents = {Claude(), Codex(),    Copilot(), Cursor(),
                                     Gemini(), Opencode(), Vscode(),  Zed()};
  return kAgents;
}

std::string OwnPath::In(const Environment& environment) const {
  const std::string fallback = support::Value(environment, "HOME") + std::string(directory);
  return support::DirectoryOr(environment, std::string(variable), fallback) + std::string(rest);
}

std::vector<paths::HostProgram> ObeyedFiles() {
  std::vector<paths::HostProgram> files;
  for (const Agent& agent : Agents()) {
    files.insert(files.end(), agent.obeys.begin(), agent.obeys.end());
  }
  return files;
}

mcp::ResultFormat FormatFor(std::string_view client, std::optional<mcp::ResultStyle> style) {
  mcp::ResultFormat format;
  for (const Agent& agent : Agents()) {
    for (const std::string_view name : agent.clients) {
      if (!client.starts_with(name)) continue;
      format = {.style = mcp::ResultStyle::kText, .text_bytes = agent.shown_bytes};
    }
  }
  if (style) format.style = *style;
  return format;
}

std::string UpdateCommand(const Confinement& agent, const std::string& program) {
  for (const std::string marker : {"/Cellar/", "/Caskroom/"}) {
    const std::size_t at = program.find(marker);
    if (at == std::string::npos) continue;
    const std::string rest = program.substr(at + marker.size());
    return "brew upgrade " + rest.substr(0, rest.find('/'));
  }
  for (const auto& [marker, command] : {std::pair{"/.bun/", "bun add"},
                                        {"/pnpm/", "pnpm add"},
                                        {"/node_modules/", "npm install"}}) {
    if (program.find(marker) == std::string::npos) continue;
    return std::string(command) + " -g " + std::string(agent.package) + "@latest";
  }
  if (!agent.update.empty()) return std::string(agent.update);
  return support::Format("as you installed {}", program);
}

}  // namespace agents
