// Codex. Sources: codex-rs/core/src/config and codex-rs/core/src/environment* of openai/codex.
//
// Codex runs git in its working directory, and its terminal shows the model the sessions of its
// home: so it gets both of its own. `environments.toml` in that home is the catch-all: without an
// environment each of its own tools that touches the host fails, whatever other settings say.

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agents/agents.h"
#include "agents/arguments.h"
#include "agents/project_text.h"
#include "support/errors.h"
#include "support/log.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Switched off by name; a version that does not know one ignores it.
constexpr std::array<std::string_view, 29> kFeaturesOff = {"shell_tool",
                                                           "unified_exec",
                                                           "view_image",
                                                           "hooks",
                                                           "plugins",
                                                           "apps",
                                                           "multi_agent",
                                                           "multi_agent_v2",
                                                           "shell_snapshot",
                                                           "skill_mcp_dependency_install",
                                                           "skill_search",
                                                           "tool_suggest",
                                                           "image_generation",
                                                           "browser_use",
                                                           "browser_use_external",
                                                           "browser_use_full_cdp_access",
                                                           "in_app_browser",
                                                           "computer_use",
                                                           "remote_plugin",
                                                           "memories",
                                                           "daemon_auto_start",
                                                           "workspace_dependencies",
                                                           "request_permissions_tool",
                                                           "exec_permission_approvals",
                                                           "enable_fanout",
                                                           "js_repl",
                                                           "artifact",
                                                           "network_proxy",
                                                           "deferred_executor"};

/// What is taken over of the user's config.toml: the model, the login and the looks.
constexpr std::array<std::string_view, 25> kUsersKeys = {"chatgpt_base_url",
                                                         "cli_auth_credentials_store",
                                                         "disable_response_storage",
                                                         "file_opener",
                                                         "forced_chatgpt_workspace_id",
                                                         "forced_login_method",
                                                         "hide_agent_reasoning",
                                                         "model",
                                                         "model_context_window",
                                                         "model_provider",
                                                         "model_providers",
                                                         "model_reasoning_effort",
                                                         "model_reasoning_summary",
                                                         "model_supports_reasoning_summaries",
                                                         "model_verbosity",
                                                         "notice",
                                                         "openai_base_url",
                                                         "personality",
                                                         "plan_mode_reasoning_effort",
                                                         "preferred_auth_method",
                                                         "service_tier",
                                                         "show_raw_agent_reasoning",
                                                         "tui",
                                                         "web_search",
                                                         "review_model"};

/// A basic string of TOML: JSON's escapes, and DEL.
std::string Quoted(std::string_view text) {
  std::string quoted = json(text).dump();
  for (std::size_t at = 0; (at = quoted.find('\x7F', at)) != std::string::npos; at += 6) {
    quoted.replace(at, 1, "\\u007f");
  }
  return quoted;
}

std::string QuotedList(std::span<const std::string> words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + Quoted(word);
  return "[" + list + "]";
}

std::string UsersHome(const Environment& environment) {
  return ValueOr(environment, "CODEX_HOME", Value(environment, "HOME") + "/.codex");
}

std::string UsersSettings(const std::string& home) {
  const std::string path = home + "/config.toml";
  if (!fs::exists(path)) return "";
  try {
    toml::table chosen;
    for (auto&& [key, value] : toml::parse_file(path)) {
      if (std::find(kUsersKeys.begin(), kUsersKeys.end(), key.str()) != kUsersKeys.end()) {
        chosen.insert(key, value);
      }
    }
    std::ostringstream text;
    text << chosen << '\n';
    return text.str();
  } catch (const toml::parse_error& error) {
    std::ostringstream where;
    where << error.source().begin;
    throw support::CallError(path + ": " + std::string(error.description()) + " (" + where.str() +
                             "); fix it first");
  }
}

/// The user's own instructions, and then the project's.
std::string Instructions(const LaunchRequest& request, const std::string& users_home) {
  constexpr std::array<std::string_view, 1> kInstructionFiles = {"AGENTS.md"};
  std::string text = Preamble(request);
  for (const char* name : {"/AGENTS.override.md", "/AGENTS.md"}) {
    std::ifstream own(users_home + name);
    if (!own) continue;
    std::ostringstream content;
    content << own.rdbuf();
    text += "\n" + content.str();
    break;
  }
  return text + ProjectInstructions(request.project, kInstructionFiles);
}

std::string ServerTable(const LaunchRequest& request) {
  std::string environment;
  for (const auto& [name, value] : request.server_environment) {
    environment += (environment.empty() ? "" : ",") + Quoted(name) + "=" + Quoted(value);
  }
  const std::string approval = request.trust ? "\"approve\"" : "\"auto\"";
  std::string tools;
  for (const std::string& tool : request.tools) {
    tools += (tools.empty() ? "" : ",") + tool + "={approval_mode=" + approval + "}";
  }
  return "{command=" + Quoted(request.server.front()) +
         ",args=" + QuotedList(std::span(request.server).subspan(1)) + ",env={" + environment +
         "},env_vars=[],cwd=" + Quoted(request.control) +
         ",enabled=true,required=true,startup_timeout_sec=60,tool_timeout_sec=" +
         std::to_string(request.call_timeout.count()) +
         ",supports_parallel_tool_calls=true,omit_tools_from=[\"deferred\"]" +
         ",default_tools_approval_mode=" + approval +
         ",enabled_tools=" + QuotedList(request.tools) + ",disabled_tools=[],tools={" + tools +
         "}}";
}

/// As `-c KEY=VALUE`, which wins over every file but an administrator's.
std::vector<std::string> Flags(const LaunchRequest& request) {
  std::string features;
  for (const std::string_view feature : kFeaturesOff) {
    features.append(features.empty() ? "" : ",").append(feature).append("=false");
  }
  const std::array settings = {
      "projects={" + Quoted(request.directory) + "={trust_level=\"trusted\"}}",
      std::string("project_root_markers=[]"), std::string("project_doc_max_bytes=0"),
      std::string("project_doc_fallback_filenames=[]"),
      std::string("include_environment_context=false"),
      // The terminal's own servers of tools for threads and worktrees give way to these.
      "mcp_servers={" + std::string(kServer) + "=" + ServerTable(request) +
          ",codex_tui={command=\"false\",enabled=false}"
          ",codex_worktrees={command=\"false\",enabled=false}}",
      "features={" + features + "}", std::string("sandbox_mode=\"read-only\""),
      std::string("approval_policy={granular={sandbox_approval=false,rules=false,"
                  "skill_approval=false,request_permissions=false,mcp_elicitations=true}}"),
      std::string("approvals_reviewer=\"user\""), std::string("allow_login_shell=false"),
      std::string("agents.enabled=false"),
      std::string("memories={generate_memories=false,use_memories=false}"),
      std::string("skills={include_instructions=false,bundled={enabled=false}}"),
      std::string("check_for_update_on_startup=false")};
  std::vector<std::string> flags;
  for (const std::string& setting : settings) flags.insert(flags.end(), {"-c", setting});
  return flags;
}

constexpr std::array kTerminalOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"--search"},
    AllowedOption{"--no-alt-screen"},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
    AllowedOption{"-V"},
    AllowedOption{"--version"},
};
constexpr std::array kResumeOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"--last"},
    AllowedOption{"--all"},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
};
constexpr std::array kExecOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"--json"},
    AllowedOption{"--color", OptionValue::kRequired},
    AllowedOption{"--ephemeral"},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
};
constexpr std::array kLoginOptions = {AllowedOption{"--device-auth"}, AllowedOption{"-h"},
                                      AllowedOption{"--with-api-key"}, AllowedOption{"--help"}};
constexpr std::array kModes = {
    Mode{"", kTerminalOptions, true, true}, Mode{"exec", kExecOptions, true, true},
    Mode{"resume", kResumeOptions, true},   Mode{"fork", kResumeOptions, true},
    Mode{"login", kLoginOptions, false},
};

constexpr std::array kRefused = {
    RefusedOption{"-c", kSettingsReason},
    RefusedOption{"--config", kSettingsReason},
    RefusedOption{"--enable", kSettingsReason},
    RefusedOption{"--disable", kSettingsReason},
    RefusedOption{"-p", kSettingsReason},
    RefusedOption{"--profile", kSettingsReason},
    RefusedOption{"--dangerously-bypass-approvals-and-sandbox", kTrustReason},
    RefusedOption{"--yolo", kTrustReason},
    RefusedOption{"-a", kTrustReason},
    RefusedOption{"--ask-for-approval", kTrustReason},
    RefusedOption{"-s", kHostReason},
    RefusedOption{"--sandbox", kHostReason},
    RefusedOption{"-C", kHostReason},
    RefusedOption{"--cd", kHostReason},
    RefusedOption{"--add-dir", kHostReason},
    RefusedOption{"--worktree", kHostReason},
    RefusedOption{"--remote", "that Codex is not confined"},
};

std::optional<std::string> FindRefusedByCodex(std::span<const std::string> arguments) {
  return FindRefused(arguments, {"Codex", kModes, kRefused, "put another -- before it"});
}

/// Where the user's arguments name a command, its name comes first.
std::vector<std::string> Arguments(const LaunchRequest& request) {
  std::span<const std::string> rest = request.arguments;
  if (!rest.empty() && rest.front() == "login") return request.arguments;
  std::vector<std::string> arguments;
  bool is_exec = false;
  if (!rest.empty() && rest.front() == "exec") {
    is_exec = true;
    arguments.emplace_back("exec");
    rest = rest.subspan(1);
  } else {
    arguments.emplace_back("--no-daemon");
  }
  const std::vector<std::string> flags = Flags(request);
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"-C", request.directory});
  if (is_exec) arguments.emplace_back("--skip-git-repo-check");
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

Launch LaunchCodex(const LaunchRequest& request) {
  constexpr std::array<std::string_view, 7> kUnset = {
      "CODEX_EXEC_SERVER*", "CODEX_SQLITE_HOME", "CODEX_MANAGED_*",    "CODEX_APP_SERVER_*",
      "CODEX_INTERNAL_*",   "CODEX_CODE_MODE_*", "CODEX_STARTING_DIFF"};
  const std::string users_home = UsersHome(request.environment);
  Launch launch;
  launch.arguments = Arguments(request);
  launch.environment = request.environment;
  Unset(launch.environment, kUnset);
  launch.environment.insert_or_assign("CODEX_HOME", request.home);
  launch.files = {
      {request.home + "/config.toml", UsersSettings(users_home)},
      {request.home + "/environments.toml", "default = \"none\"\ninclude_local = true\n"},
      {request.home + "/AGENTS.md", Instructions(request, users_home)},
  };
  for (const char* name : {"/auth.json", "/prompts", "/themes"}) {
    std::error_code missing;
    const fs::path users = fs::canonical(users_home + name, missing);
    if (!missing) launch.links.push_back({request.home + name, users.string()});
  }
  return launch;
}

/// The catalogue of models, without the tools that they would be offered: only there can
/// apply_patch be switched off.
void UseModels(const LaunchRequest& request, const std::string& output, Launch& launch) {
  if (!request.arguments.empty() && request.arguments.front() == "login") return;
  json catalogue = json::parse(output, nullptr, false);
  if (!catalogue.is_object() || !catalogue.contains("models") || !catalogue["models"].is_array()) {
    throw support::CallError(
        "codex debug models does not print the models: Codex cannot be kept "
        "from its tool apply_patch. Try it, or install another version");
  }
  for (json& model : catalogue["models"]) {
    for (const char* key :
         {"apply_patch_tool_type", "multi_agent_version", "upgrade", "availability_nux"}) {
      model[key] = nullptr;
    }
    model["shell_type"] = "disabled";
  }
  const std::string path = request.control + "/models.json";
  launch.files.push_back({path, catalogue.dump()});
  const auto place = std::find(launch.arguments.begin(), launch.arguments.end(), "-C");
  launch.arguments.insert(place, {"-c", "model_catalog_json=" + Quoted(path)});
}

std::vector<std::string> CodexSettings(const Environment& environment) {
  const std::string home = UsersHome(environment);
  std::error_code missing;
  const fs::path login = fs::canonical(home + "/auth.json", missing);
  std::vector<std::string> settings = {home, Value(environment, "HOME") + "/.agents"};
  if (!missing) settings.push_back(login.string());
  return settings;
}

}  // namespace

ConfinedAgent CodexAgent() {
  return {.name = "codex",
          .title = "Codex",
          .program = "codex",
          .package = "@openai/codex",
          .oldest = {0, 160, 0},
          .launch = &LaunchCodex,
          .query = {"debug", "models", "-c", "features={plugins=false,apps=false}"},
          .use_output = &UseModels,
          .find_refused = &FindRefusedByCodex,
          .settings = &CodexSettings};
}

}  // namespace agents
