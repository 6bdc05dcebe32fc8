// SPDX-License-Identifier: Apache-2.0
#include "agents/common.h"
#include "support/encoding.h"
#include "support/format.h"

namespace agents {
namespace {

#ifdef __APPLE__
constexpr const char* kOpen = "open";
#else
constexpr const char* kOpen = "xdg-open";
#endif

/// https://cursor.com/docs/mcp/install-links
std::string InstallLink(const Json& entry) {
  std::string config = support::EncodeBase64(entry.dump());
  for (const auto& [byte, escape] : {std::pair{"+", "%2B"}, {"/", "%2F"}, {"=", "%3D"}}) {
    config = support::Replaced(config, byte, escape);
  }
  return support::Format("cursor://anysphere.cursor-deeplink/mcp/install?name={}&config={}",
                         kServer, config);
}

std::vector<Step> SetUpCursor(const ServerRequest& request) {
  const Json hook = {{"command", "sh -c 'exit 2'"},  // blocked
                     {"matcher", "Shell|Read|Write|Grep|Delete"},
                     {"failClosed", true}};
  return {
      AddServer({kOpen, InstallLink(CommandEntry(request, kWorkspaceFolder))}),
      AddSettings("Switch the editor's own tools off. Add to .cursor/hooks.json",
                  {{"version", 1}, {"hooks", {{"preToolUse", Json::array({hook})}}}}),
      // cursor-agent requires both lists.
      AddSettings("Switch those of cursor-agent off. Add to .cursor/cli.json",
                  {{"permissions",
                    {{"allow", Json::array()}, {"deny", {"Shell(*)", "Read(**)", "Write(**)"}}}}})};
}

}  // namespace

Agent Cursor() {
  return {.name = "cursor",
          .title = "Cursor",
          .programs = "cursor cursor-agent",
          .clients = {"cursor", "Cursor"},  // "cursor-vscode"
          .obeys = {{".cursor/", RunBy::kLooking, "Cursor", "servers, hooks and tasks are commands",
                     Writing::kRefused}},
          .set_up = &SetUpCursor};
}

}  // namespace agents
