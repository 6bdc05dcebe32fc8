// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"

namespace agents {
namespace {

AgentSettings ConfigureZed(const SettingsRequest& request) {
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.call_timeout.count();
  AgentSettings all = {
      .files = {{.path = request.user ? ConfigHome(request.environment) + "/zed/settings.json"
                                      : ".zed/settings.json"}}};
  Json& wanted = all.files[0].wanted;
  wanted["context_servers"][kServer] = std::move(entry);
  if (request.user) {
    Json tools = Json::object();
    for (const std::string& tool : request.tools) tools[tool] = true;
    // Tools that a profile does not name are off.
    wanted["agent"] = {{"profiles",
                        {{kServer,
                          {{"name", "Lima"},
                           {"tools", {{"thinking", true}}},
                           {"enable_all_context_servers", false},
                           {"context_servers", {{kServer, {{"tools", tools}}}}}}}}},
                       {"default_profile", kServer}};
    all.notes = {
        "New threads start with the profile \"Lima\", which has only the tools of this server. "
        "Threads with another profile have the editor's tools."};
  } else {
    all.notes = {
        "Zed's own tools are NOT switched off: Zed reads that only from your own settings. "
        "\"limactl mcp configure zed --user\" does it."};
  }
  if (request.trust) all.notes.emplace_back(kTrustInEditor);
  return all;
}

}  // namespace

Agent Zed() {
  return {.name = "zed",
          .title = "Zed",
          .programs = "zed zeditor",
          .clients = {"Zed"},
          .obeys = {{".zed/", RunBy::kLooking, "Zed", "servers and tasks are commands",
                     Writing::kRefused}},
          .settings = &ConfigureZed,
          .needs_trust = true};
}

}  // namespace agents
