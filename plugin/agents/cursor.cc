// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"

namespace agents {
namespace {

AgentSettings ConfigureCursor(const SettingsRequest& request) {
  const std::string own = Value(request.environment, "HOME") + "/.cursor";
  const Json hook = {{"command", "sh -c 'exit 2'"},
                     {"matcher", "Shell|Read|Write|Grep|Delete"},
                     {"failClosed", true}};
  AgentSettings all = {
      .files = {{.path = request.user ? own + "/hooks.json" : ".cursor/hooks.json",
                 .wanted = {{"hooks", {{"preToolUse", Json::array({hook})}}}},
                 .initial = {{"version", 1}}},
                {.path = request.user ? own + "/cli-config.json" : ".cursor/cli.json",
                 .wanted = {{"permissions", {{"deny", {"Shell(*)", "Read(**)", "Write(**)"}}}}},
                 .trusted = {{"permissions", {{"allow", Json::array({"Mcp(lima:*)"})}}}},
                 // cursor-agent requires both lists.
                 .initial = {{"permissions", {{"allow", Json::array()}, {"deny", Json::array()}}}}},
                {.path = request.user ? own + "/mcp.json" : ".cursor/mcp.json",
                 .wanted = {{"mcpServers", {{kServer, CommandEntry(request, kWorkspaceFolder)}}}}}},
      .notes = {"The hook (exit code 2: blocked) stops the editor's own tools Shell, Read, Write, "
                "Grep and Delete; the deny list stops those of cursor-agent. Cursor asks once "
                "whether the server may run."}};
  if (request.trust) {
    all.notes.emplace_back(
        "--trust applies to cursor-agent; the editor keeps a list of its own, in its settings.");
  }
  return all;
}

}  // namespace

Agent Cursor() {
  return {.name = "cursor",
          .title = "Cursor",
          .programs = "cursor cursor-agent",
          .clients = {"cursor", "Cursor"},  // "cursor-vscode"
          .obeys = {{".cursor/", RunBy::kLooking, "Cursor", "servers, hooks and tasks are commands",
                     Writing::kRefused}},
          .settings = &ConfigureCursor};
}

}  // namespace agents
