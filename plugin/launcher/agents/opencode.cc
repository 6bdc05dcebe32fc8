// SPDX-License-Identifier: Apache-2.0
// opencode. Sources: packages/opencode/src/config and src/permission of anomalyco/opencode.
//
// It merges its settings from many places; its environment comes last. It runs the project's
// plugins whatever the settings are (issue 49836), so only another directory confines it.

#include <filesystem>

#include "agents/common.h"
#include "agents/own_servers.h"
#include "support/errors.h"
#include "support/random.h"

namespace agents {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPasswordDigits = 48;

/// Keys copied from the user's settings: the model, the login and the looks.
constexpr std::string_view kOpencodeUsersKeys =
    "compaction disabled_providers enabled_providers model provider share small_model tool_output "
    "username";

/// The rules for its tools, in order: the last one that matches counts. opencode merges its
/// settings, where a key of the user's keeps its place. Nobody else writes keys like these, with
/// "*" at the end, so they come last. `task` is denied: its prompt can include files of the host.
constexpr const char* kRules = R"({
  "**": "deny", "invalid*": "allow", "todowrite*": "allow", "question*": "allow",
  "plan_enter*": "allow", "plan_exit*": "allow", "websearch*": "allow", "webfetch*": "ask",
  "doom_loop*": "ask"
})";
constexpr const char* kServersTools = "lima_**";

Json CompletedOpencodeEntry(Json entry, const ServerRequest& request) {
  entry["enabled"] = true;
  entry.emplace("timeout", std::chrono::milliseconds(request.call_timeout).count());
  return entry;
}

Json OpencodeServerEntry(const ServerRequest& request, std::string_view root) {
  Json entry = {{"type", "local"}, {"command", ServerCommand(request, root)}};
  if (!request.server_environment.empty()) entry["environment"] = request.server_environment;
  return CompletedOpencodeEntry(std::move(entry), request);
}

Json OwnServerEntry(const LaunchRequest& request, const OwnServer& server) {
  Json entry = OwnEntry(request, server);
  if (server.IsInGuest()) {
    entry["args"].insert(entry["args"].begin(), entry["command"]);
    entry = {{"type", "local"}, {"command", entry["args"]}};
  } else if (entry.contains("command")) {
    entry["environment"].emplace("XDG_CONFIG_HOME", ConfigHome(request.environment));
  }
  return CompletedOpencodeEntry(std::move(entry), request);
}

/// Overrides all files but an administrator's.
constexpr const char* kOpencodeSettings = R"({
  "agent": {"general": {"disable": true}, "explore": {"disable": true}},
  "plugin": [], "lsp": false, "formatter": false, "snapshot": false, "autoupdate": false,
  "server": {}, "watcher": {"ignore": ["**"]}
})";

Json AllPermissions(const LaunchRequest& request) {
  Json rules = Json::parse(kRules);
  rules[kServersTools] = request.trust ? "allow" : "ask";
  for (const OwnServer& server : request.servers) {
    rules[server.name + "_**"] = IsTrusted(request, server) ? "allow" : "ask";
  }
  return rules;
}

Json OpencodeSettings(const LaunchRequest& request, const std::string& instructions) {
  const Json permission = AllPermissions(request);
  Json plan = permission;
  for (const OwnServer& server : request.servers) plan[server.name + "_**"] = "ask";
  for (const char* tool : {"lima_replace", "lima_write_file"}) plan[tool] = "deny";
  for (const char* tool : {"lima_run_shell_command", "lima_start_process", "lima_write_process"}) {
    plan[tool] = "ask";
  }
  Json settings = Json::parse(kOpencodeSettings);
  Json& entry = settings["mcp"][kServer] = OpencodeServerEntry(request, request.project);
  entry["environment"]["XDG_CONFIG_HOME"] = ConfigHome(request.environment);
  for (const OwnServer& server : request.servers) {
    settings["mcp"][server.name] = OwnServerEntry(request, server);
  }
  settings["agent"]["build"]["permission"] = permission;
  settings["agent"]["plan"]["permission"] = std::move(plan);
  settings["instructions"] = Json::array({instructions});
  return settings;
}

Json UsersSettings(const std::string& directory, std::string_view keys,
                   std::string_view title = "opencode") {
  return ChosenSettings(
      title,
      {directory + "/config.json", directory + "/opencode.json", directory + "/opencode.jsonc"},
      keys);
}

/// opencode always reads these, and they could give the agent its tools back.
void RequireNoHomeSettings(const Environment& environment) {
  const fs::path directory = fs::path(Value(environment, "HOME")) / ".opencode";
  for (const char* name : {"opencode.json", "opencode.jsonc", "agent", "agents", "mode", "modes",
                           "plugin", "plugins", "tool", "tools"}) {
    const fs::path path = directory / name;
    std::error_code missing;
    if (fs::exists(path, missing) && !(fs::is_directory(path, missing) && fs::is_empty(path))) {
      throw support::Error(
          "{} would change what the agent may do; move it to {}/opencode, "
          "which limactl mcp run leaves out",
          path.string(), ConfigHome(environment));
    }
  }
}

constexpr std::array kOpencodeModes = {
    Mode{"",
         "-m= --model= -c --continue -s= --session= --fork --prompt= --agent= --print-logs "
         "--log-level= -h --help -v --version",
         false},
    Mode{"run",
         "-m= --model= -c --continue -s= --session= --fork --share --agent= --format= --title= "
         "--variant= --thinking --print-logs --log-level= -h --help",
         true},
};

constexpr std::array kOpencodeRefusals = {
    Refusal{kTrustReason, "--auto --yolo --dangerously-skip-permissions"},
    Refusal{"it opens a port of the host, through which the guest could run commands",
            "--port --hostname --mdns"},
    Refusal{"that opencode is not confined", "--attach"},
    Refusal{kHostReason, "--dir --cwd -f --file"},
};

constexpr std::string_view kOpencodeVariables =
    "OPENCODE* BUN_* AGENT OPENCODE_PURE=1 OPENCODE_DISABLE_PROJECT_CONFIG=1 "
    "OPENCODE_DISABLE_EXTERNAL_SKILLS=1 OPENCODE_DISABLE_AUTOUPDATE=1 "
    "OPENCODE_DISABLE_LSP_DOWNLOAD=1 +OPENCODE_API_KEY +OPENCODE_AUTH_CONTENT +OPENCODE_MODELS_URL "
    "+OPENCODE_MODELS_PATH +OPENCODE_DISABLE_MODELS_FETCH";

Environment AgentEnvironment(const LaunchRequest& request, const std::string& config_home,
                             const std::string& instructions) {
  Environment environment = Changed(request.environment, kOpencodeVariables);
  environment["XDG_CONFIG_HOME"] = config_home;
  environment["OPENCODE_DB"] = request.agent_home + "/opencode.db";
  environment["OPENCODE_SERVER_PASSWORD"] = support::RandomHex(kPasswordDigits);
  environment["OPENCODE_PERMISSION"] = AllPermissions(request).dump();
  environment["OPENCODE_CONFIG_CONTENT"] = OpencodeSettings(request, instructions).dump();
  return environment;
}

Launch LaunchOpencode(const LaunchRequest& request) {
  RequireNoHomeSettings(request.environment);
  const std::string instructions = request.settings_directory + "/instructions.md";
  const std::string config_home = request.settings_directory + "/config";
  const std::string own = config_home + "/opencode";
  const std::string users = ConfigHome(request.environment) + "/opencode";
  const std::string dependencies = R"("dependencies":{"@opencode-ai/plugin":"*"})";
  const std::string_view title = request.own_servers ? "" : "opencode";  // they were read before
  Launch launch = {
      .arguments = request.arguments,
      .environment = AgentEnvironment(request, config_home, instructions),
      .files = {{instructions, Instructions(request, "AGENTS.md CLAUDE.md")},
                {own + "/opencode.json", UsersSettings(users, kOpencodeUsersKeys, title).dump(2)},
                // With these, opencode does not install its SDK for plugins at each start.
                {own + "/package.json", "{" + dependencies + "}"},
                {own + "/package-lock.json",
                 R"({"lockfileVersion":3,"packages":{"":{)" + dependencies + "}}}"},
                {own + "/node_modules/.keep", ""}}};
  // opencode looks for settings up to the top of the repository, and without one up to "/".
  launch.files.merge(EmptyRepository(request.working_directory));
  for (const char* name : {"/AGENTS.md", "/themes", "/tui.json", "/tui.jsonc"}) {
    launch.links[own + name] = users + name;
  }
  return launch;
}

Json OpencodeOwnServers(const Environment& environment) {
  return UsersSettings(ConfigHome(environment) + "/opencode", "mcp").value("mcp", Json::object());
}

Json OpencodeObeyedSettings(const Environment& environment) {
  return UsersSettings(ConfigHome(environment) + "/opencode", kOpencodeUsersKeys, "");
}

// `opencode mcp add` sets no timeout, and the rules need the file anyway.
std::vector<Step> SetUpOpencode(const ServerRequest& request) {
  Json rules = Json::parse(kRules);
  rules[kServersTools] = "ask";
  return {AddSettings("Add the server, and switch its own tools off. Add to opencode.json",
                      {{"permission", std::move(rules)},
                       {"mcp", {{kServer, OpencodeServerEntry(request, kWorkingDirectory)}}}})};
}

}  // namespace

Agent Opencode() {
  return {.name = "opencode",
          .title = "opencode",
          .programs = "opencode",
          .clients = {"opencode"},
          .shown_bytes = std::size_t{48} * 1024,  // the first 50 KB
          .obeys = {{"opencode.json* .opencode/", RunBy::kAgent, "opencode",
                     "plugins, tools and servers, without a question", Writing::kRefused}},
          .set_up = &SetUpOpencode,
          .run = Confinement{.package = "opencode-ai",
                             .update = "opencode upgrade",
                             .oldest = {1, 18, 33},
                             .launch = &LaunchOpencode,
                             .rules = {"opencode", kOpencodeModes, kOpencodeRefusals},
                             .own_settings = {{"XDG_CONFIG_HOME", "/.config", "/opencode"},
                                              {"", "/.opencode"},
                                              {"XDG_DATA_HOME", "/.local/share", "/opencode"},
                                              {"XDG_STATE_HOME", "/.local/state", "/opencode"},
                                              {"XDG_CACHE_HOME", "/.cache", "/opencode"}},
                             .obeyed_settings = &OpencodeObeyedSettings,
                             .own_servers = &OpencodeOwnServers}};
}

}  // namespace agents
