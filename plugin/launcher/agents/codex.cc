// SPDX-License-Identifier: Apache-2.0
// Codex. Sources: codex-rs/core/src/config and codex-rs/core/src/environment* of openai/codex.
//
// Codex runs git in its working directory, and its terminal shows the model the sessions of its
// home: so it gets a directory and a home of its own. `environments.toml` in that home denies all:
// without an environment, each tool of Codex that touches the host fails, whatever the settings
// are.

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

#include "agents/common.h"
#include "agents/own_servers.h"
#include "support/errors.h"
#include "support/files.h"

namespace agents {
namespace {

/// Switched off by name. A version that does not know one ignores it.
constexpr std::string_view kFeaturesOff =
    "shell_tool unified_exec view_image hooks plugins apps multi_agent multi_agent_v2 "
    "shell_snapshot skill_mcp_dependency_install skill_search tool_suggest image_generation "
    "browser_use browser_use_external browser_use_full_cdp_access in_app_browser computer_use "
    "remote_plugin memories daemon_auto_start workspace_dependencies request_permissions_tool "
    "exec_permission_approvals enable_fanout js_repl artifact network_proxy deferred_executor";

/// Keys copied from the user's config.toml: the model, the login and the looks.
constexpr std::string_view kCodexUsersKeys =
    "chatgpt_base_url cli_auth_credentials_store disable_response_storage file_opener "
    "forced_chatgpt_workspace_id forced_login_method hide_agent_reasoning model "
    "model_context_window model_provider model_providers model_reasoning_effort "
    "model_reasoning_summary model_supports_reasoning_summaries model_verbosity notice "
    "openai_base_url personality plan_mode_reasoning_effort preferred_auth_method service_tier "
    "show_raw_agent_reasoning tui web_search review_model";

constexpr OwnPath kCodexUsersHome = {"CODEX_HOME", "/.codex"};

toml::table ReadToml(const std::string& home) {
  const std::string path = home + "/config.toml";
  const auto settings = support::ReadFile(path, kMaxSettingsBytes);
  if (!settings) return {};
  try {
    return toml::parse(*settings);
  } catch (const toml::parse_error& error) {
    throw support::Error("{}:{}: {}; fix it first", path, error.source().begin.line,
                         error.description());
  }
}

toml::table UsersSettings(const std::string& home) {
  toml::table chosen;
  const auto keys = Words(kCodexUsersKeys);
  for (auto&& [key, value] : ReadToml(home)) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) chosen.insert(key, value);
  }
  return chosen;
}

template <typename Format = toml::toml_formatter>
std::string Written(const toml::table& table) {
  std::ostringstream text;
  text << Format(table) << '\n';
  return text.str();
}

std::string UsersInstructions(const std::string& users_home) {
  for (const char* name : {"/AGENTS.override.md", "/AGENTS.md"}) {
    const auto text = support::ReadFile(users_home + name, kMaxInstructions);
    if (text) return "\n" + *text;
  }
  return "";
}

/// JSON's value on one line, as TOML. There is no null.
std::string TomlValue(const Json& value) {
  if (value.is_structured()) {
    std::string items;
    for (const auto& [name, item] : value.items()) {
      if (!items.empty()) items += ", ";
      if (value.is_object()) items += TomlValue(name) + " = ";
      items += TomlValue(item);
    }
    return value.is_object() ? "{" + items + "}" : "[" + items + "]";
  }
  return value.dump();  // JSON's escapes are TOML's
}

/// The terminal's own servers of tools for threads and worktrees give way to those here.
constexpr const char* kCodexSettings = R"({
  "project_root_markers": [], "project_doc_max_bytes": 0, "project_doc_fallback_filenames": [],
  "include_environment_context": false,
  "mcp_servers": {
    "codex_tui": {"command": "false", "enabled": false},
    "codex_worktrees": {"command": "false", "enabled": false},
    "lima": {"env_vars": [], "enabled": true, "required": true, "startup_timeout_sec": 60,
             "supports_parallel_tool_calls": true, "omit_tools_from": ["deferred"],
             "disabled_tools": []}
  },
  "sandbox_mode": "read-only",
  "approval_policy": {"granular": {"sandbox_approval": false, "rules": false,
                                   "skill_approval": false, "request_permissions": false,
                                   "mcp_elicitations": true}},
  "approvals_reviewer": "user", "allow_login_shell": false, "agents.enabled": false,
  "memories": {"generate_memories": false, "use_memories": false},
  "skills": {"include_instructions": false, "bundled": {"enabled": false}},
  "check_for_update_on_startup": false
})";

/// An own server may be installed while it starts.
constexpr int kStartSeconds = 60;

/// Flags `-c KEY=VALUE`, which override every file but an administrator's.
std::vector<std::string> Flags(const LaunchRequest& request) {
  Json settings = Json::parse(kCodexSettings);
  settings["projects"] = {{request.working_directory, {{"trust_level", "trusted"}}}};
  Json& server = settings["mcp_servers"][kServer];
  const char* approval = request.trust ? "approve" : "auto";
  server.update(CommandEntry(request, request.project));
  server.update({{"cwd", request.settings_directory},
                 {"tool_timeout_sec", request.call_timeout.count()},
                 {"default_tools_approval_mode", approval},
                 {"enabled_tools", request.tools}});
  for (const std::string& tool : request.tools) server["tools"][tool]["approval_mode"] = approval;
  for (const OwnServer& own : request.servers) {
    Json& entry = settings["mcp_servers"][own.name] = OwnEntry(request, own);
    entry.update({{"enabled", true},
                  {"required", true},  // else the first turn may be without its tools
                  {"omit_tools_from", Json::array({"deferred"})},
                  {"default_tools_approval_mode", !own.IsInGuest() ? "prompt" : approval}});
    entry.emplace("startup_timeout_sec", kStartSeconds);
    entry.emplace("tool_timeout_sec", request.call_timeout.count());
  }
  for (const std::string_view feature : Words(kFeaturesOff)) {
    settings["features"][std::string(feature)] = false;
  }
  std::vector<std::string> flags;
  for (const auto& [key, value] : settings.items()) {
    flags.insert(flags.end(), {"-c", key + "=" + TomlValue(value)});
  }
  return flags;
}

constexpr std::string_view kResumeOptions = "-m= --model= --last --all -h --help";
constexpr std::array kCodexModes = {
    Mode{"", "-m= --model= --search --no-alt-screen -h --help -V --version", true, true},
    Mode{"exec", "-m= --model= --json --color= --ephemeral --skip-git-repo-check -h --help", true,
         true},
    Mode{"resume", kResumeOptions, true},
    Mode{"fork", kResumeOptions, true},
    Mode{"login", "--device-auth --with-api-key -h --help", false},
};

constexpr std::array kCodexRefusals = {
    Refusal{kSettingsReason, "-c --config --enable --disable -p --profile"},
    Refusal{kTrustReason,
            "--dangerously-bypass-approvals-and-sandbox --yolo -a --ask-for-approval"},
    Refusal{kHostReason, "-s --sandbox -C --cd --add-dir --worktree"},
    Refusal{"that Codex is not confined", "--remote"},
};

constexpr const char* kSkipCheck = "--skip-git-repo-check";

/// Ours come after a command of the user's.
std::vector<std::string> Arguments(const LaunchRequest& request) {
  std::vector<std::string> all = request.arguments;
  if (!all.empty() && all.front() == "login") return all;
  const bool is_exec = !all.empty() && all.front() == "exec";
  std::vector<std::string> ours = Flags(request);
  ours.insert(ours.end(), {"-C", request.working_directory});
  if (!is_exec) ours.emplace_back("--no-daemon");
  // Codex refuses it twice.
  const bool is_given = std::find(all.begin(), all.end(), kSkipCheck) != all.end();
  if (is_exec && !is_given) ours.emplace_back(kSkipCheck);
  all.insert(all.begin() + (is_exec ? 1 : 0), ours.begin(), ours.end());
  return all;
}

constexpr std::string_view kCodexVariables =
    "CODEX_EXEC_SERVER* CODEX_SQLITE_HOME CODEX_MANAGED_* CODEX_APP_SERVER_* CODEX_INTERNAL_* "
    "CODEX_CODE_MODE_* CODEX_STARTING_DIFF";

Launch LaunchCodex(const LaunchRequest& request) {
  const std::string users_home = kCodexUsersHome.In(request.environment);
  Launch launch = {
      .arguments = Arguments(request),
      .environment = Changed(request.environment, kCodexVariables),
      .files = {
          {request.agent_home + "/config.toml", Written(UsersSettings(users_home))},
          {request.agent_home + "/environments.toml", "default = \"none\"\ninclude_local = true\n"},
          {request.agent_home + "/AGENTS.md",
           Instructions(request, "AGENTS.md", UsersInstructions(users_home))}}};
  launch.environment["CODEX_HOME"] = request.agent_home;
  for (const char* name : {"/auth.json", "/prompts", "/themes"}) {
    launch.links[request.agent_home + name] = users_home + name;
  }
  return launch;
}

/// The catalogue of models without their tools: apply_patch can be switched off only there.
void UseModels(const LaunchRequest& request, const std::string& output, Launch& launch) {
  if (!request.arguments.empty() && request.arguments.front() == "login") return;
  Json catalogue = Json::parse(output, nullptr, false);
  if (!catalogue.is_object() || !catalogue.contains("models") || !catalogue["models"].is_array()) {
    throw support::Error(
        "codex debug models does not print the models: "
        "Codex cannot be kept from its tool apply_patch. Run it, or install another version");
  }
  for (Json& model : catalogue["models"]) {
    for (const char* key :
         {"apply_patch_tool_type", "multi_agent_version", "upgrade", "availability_nux"}) {
      model[key] = nullptr;
    }
    model["shell_type"] = "disabled";
  }
  const std::string path = request.settings_directory + "/models.json";
  launch.files[path] = catalogue.dump();
  const auto position = std::find(launch.arguments.begin(), launch.arguments.end(), "-C");
  launch.arguments.insert(position, {"-c", "model_catalog_json=" + TomlValue(path)});
}

Json CodexOwnServers(const Environment& environment) {
  const toml::table settings = ReadToml(kCodexUsersHome.In(environment));
  return Json::parse(Written<toml::json_formatter>(settings)).value("mcp_servers", Json::object());
}

Json CodexObeyedSettings(const Environment& environment) {
  const toml::table settings = UsersSettings(kCodexUsersHome.In(environment));
  return Json::parse(Written<toml::json_formatter>(settings));
}

// In a read-only sandbox, the tool apply_patch asks. Codex's default for the start, 10 s, is short
// on a busy machine. Deferred tools would be offered by a search only.
constexpr const char* kLines = R"(sandbox_mode = "read-only"

[features]
shell_tool = false
view_image = false

[mcp_servers.lima]
startup_timeout_sec = 60
omit_tools_from = ["deferred"]
supports_parallel_tool_calls = true
)";

std::vector<Step> SetUpCodex(const ServerRequest& request) {
  return {
      AddServer({"codex", "mcp", "add", kServer}, request),
      {"Switch its own tools off. Add to .codex/config.toml, which Codex reads in a project that "
       "it trusts:",
       support::Format("{}tool_timeout_sec = {}", kLines, request.call_timeout.count())},
      {"Say no when Codex asks to change a file: its tool apply_patch cannot be switched off, "
       "and would work on this host."}};
}

}  // namespace

Agent Codex() {
  return {
      .name = "codex",
      .title = "Codex",
      .programs = "codex",
      .clients = {"codex-mcp-client"},
      .shown_bytes = std::size_t{40} * 1024,  // about 48 KB, the middle cut
      .obeys = {{".codex/", RunBy::kAgent, "Codex", "servers and hooks", Writing::kRefused}},
      .set_up = &SetUpCodex,
      .run = Confinement{.package = "@openai/codex",
                         .oldest = {0, 160, 0},
                         .launch = &LaunchCodex,
                         .query = {"debug", "models", "-c", "features={plugins=false,apps=false}"},
                         .use_output = &UseModels,
                         .rules = {"Codex", kCodexModes, kCodexRefusals},
                         .own_settings = {kCodexUsersHome,
                                          {"CODEX_HOME", "/.codex", "/auth.json"},
                                          {"", "/.agents"}},
                         .obeyed_settings = &CodexObeyedSettings,
                         .own_servers = &CodexOwnServers}};
}

}  // namespace agents
