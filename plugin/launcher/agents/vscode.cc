// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"

namespace agents {
namespace {

constexpr const char* kVscodeAgent = R"(---
name: lima
description: Works in the Lima virtual machine, without the editor's own file and terminal tools
tools: ['lima/*']
---
Read, search and change files and run commands with the tools of the MCP server lima only.
They work inside a virtual machine.
)";

std::vector<Step> SetUpVscode(const ServerRequest& request) {
  Json entry = {{"name", kServer}, {"type", "stdio"}};
  entry.update(CommandEntry(request, kWorkspaceFolder));
  return {AddServer({"code", "--add-mcp", entry.dump()}),
          {"Make an agent without the editor's own tools. Create .github/agents/lima.agent.md:",
           kVscodeAgent},
          AddSettings("Let new chats start with it. Add to .vscode/settings.json",
                      {{"chat.newSession.defaultMode", kServer}}),
          {"Keep to the agent \"lima\": the others have the editor's own tools."}};
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
          .set_up = &SetUpVscode};
}

}  // namespace agents
