// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"

namespace agents {
namespace {

std::string OwnDirectory(const Environment& environment) {
#ifdef __APPLE__
  return Value(environment, "HOME") + "/Library/Application Support/Code/User";
#else
  return ConfigHome(environment) + "/Code/User";
#endif
}

constexpr const char* kVscodeAgent = R"(---
name: lima
description: Works in the Lima virtual machine, without the editor's own file and terminal tools
tools: ['lima/*']
---
Read, search and change files and run commands with the tools of the MCP server lima only.
They work inside a virtual machine.
)";

AgentSettings ConfigureVscode(const SettingsRequest& request) {
  const std::string own = OwnDirectory(request.environment);
  Json entry = {{"type", "stdio"}};
  entry.update(CommandEntry(request, kWorkspaceFolder));
  AgentSettings all = {
      .files = {{.path =
                     request.user ? own + "/prompts/lima.agent.md" : ".github/agents/lima.agent.md",
                 .format = configure::Format::kText,
                 .text = kVscodeAgent},
                // Other agents have the editor's tools.
                {.path = request.user ? own + "/settings.json" : ".vscode/settings.json",
                 .wanted = {{"chat.newSession.defaultMode", kServer}}},
                {.path = request.user ? own + "/mcp.json" : ".vscode/mcp.json",
                 .wanted = {{"servers", {{kServer, std::move(entry)}}}}}},
      .notes = {
          "Visual Studio Code has no setting that switches its own tools off: new chats "
          "start with the agent \"lima\", which has only the tools of this server. Chats with "
          "another agent have the editor's tools."}};
  if (request.trust) all.notes.emplace_back(kTrustInEditor);
  return all;
}

}  // namespace

Agent Vscode() {
  return {.name = "vscode",
          .title = "Visual Studio Code",
          .programs = "code",
          .clients = {"Visual Studio Code"},  // "Visual Studio Code - Insiders"
          .obeys = {{".vscode/ .devcontainer*/", RunBy::kLooking, "Visual Studio Code",
                     "tasks, servers, interpreters and tool paths are commands", Writing::kRefused},
                    {"*.code-workspace", RunBy::kLooking, "Visual Studio Code",
                     "interpreters and tool paths are commands"}},
          .settings = &ConfigureVscode};
}

}  // namespace agents
