// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"

namespace agents {
namespace {

std::vector<Step> SetUpZed(const ServerRequest& request) {
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.call_timeout.count();
  Json tools = Json::object();
  for (const std::string& tool : request.tools) tools[tool] = true;
  // Tools that a profile does not name are off. Zed reads profiles only there.
  const Json profile = {{"name", "Lima"},
                        {"tools", {{"thinking", true}}},
                        {"enable_all_context_servers", false},
                        {"context_servers", {{kServer, {{"tools", tools}}}}}};
  return {
      AddSettings("Add the server, and a profile without the editor's own tools. Add to " +
                      ConfigHome(request.environment) + "/zed/settings.json",
                  {{"context_servers", {{kServer, entry}}},
                   {"agent", {{"profiles", {{kServer, profile}}}, {"default_profile", kServer}}}}),
      {"Keep to the profile \"Lima\", with which new threads start."}};
}

}  // namespace

Agent Zed() {
  return {.name = "zed",
          .title = "Zed",
          .programs = "zed zeditor",
          .clients = {"Zed"},
          .obeys = {{".zed/", RunBy::kLooking, "Zed", "servers and tasks are commands",
                     Writing::kRefused}},
          .set_up = &SetUpZed};
}

}  // namespace agents
