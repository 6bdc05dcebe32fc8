// opencode. Sources: packages/opencode/src/config and src/permission of anomalyco/opencode.
//
// Its settings are merged from many places; what its environment says comes last. Of the project it
// would run plugins whatever switches say (issue 49836), so only another directory confines it.

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
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
using nlohmann::ordered_json;

/// What is taken over of the user's settings: the model, the login and the looks.
constexpr std::array<std::string_view, 9> kUsersKeys = {
    "compaction", "disabled_providers", "enabled_providers", "model",   "provider",
    "share",      "small_model",        "tool_output",       "username"};

/// The last rule that matches counts. Keys that nobody else writes stay in this order when settings
/// are merged. Without `task`: its prompt, which the model writes, includes files of the host.
ordered_json Permission(const LaunchRequest& request) {
  const std::string ours = std::string(kServer) + "_**";
  return {{"**", "deny"},          {ours, request.trust ? "allow" : "ask"},
          {"invalid*", "allow"},   {"todowrite*", "allow"},
          {"question*", "allow"},  {"plan_enter*", "allow"},
          {"plan_exit*", "allow"}, {"websearch*", "allow"},
          {"webfetch*", "ask"},    {"doom_loop*", "ask"}};
}

std::string SettingsHome(const Environment& environment) {
  return ValueOr(environment, "XDG_CONFIG_HOME", Value(environment, "HOME") + "/.config");
}

/// Read after all files but an administrator's.
ordered_json Settings(const LaunchRequest& request, const std::string& instructions) {
  ordered_json plan = Permission(request);
  plan["lima_replace"] = "deny";
  plan["lima_write_file"] = "deny";
  plan["lima_run_shell_command"] = "ask";
  ordered_json environment = request.server_environment;
  environment["XDG_CONFIG_HOME"] = SettingsHome(request.environment);
  return {{"mcp",
           {{kServer,
             {{"type", "local"},
              {"command", request.server},
              {"environment", std::move(environment)},
              {"enabled", true},
              {"timeout", request.call_timeout.count() * 1000}}}}},
          {"agent",
           {{"build", {{"permission", Permission(request)}}},
            {"plan", {{"permission", std::move(plan)}}},
            {"general", {{"disable", true}}},
            {"explore", {{"disable", true}}}}},
          {"plugin", ordered_json::array()},
          {"instructions", ordered_json::array({instructions})},
          {"lsp", false},
          {"formatter", false},
          {"snapshot", false},
          {"autoupdate", false},
          {"server", ordered_json::object()},
          {"watcher", {{"ignore", ordered_json::array({"**"})}}}};
}

json UsersSettings(const std::string& directory) {
  json chosen = json::object();
  for (const char* name : {"config.json", "opencode.json", "opencode.jsonc"}) {
    std::ifstream file(directory + "/" + name);
    if (!file) continue;
    const json settings = json::parse(file, nullptr, false, true);
    if (!settings.is_object()) {
      support::LogWarning(directory + "/" + name +
                          " is not JSON with comments; opencode starts without it");
      continue;
    }
    for (const std::string_view key : kUsersKeys) {
      if (const auto value = settings.find(key); value != settings.end()) {
        chosen[std::string(key)].merge_patch(*value);
      }
    }
  }
  return chosen;
}

/// opencode replaces them in its settings before it parses these.
void RequireNoSubstitution(const LaunchRequest& request) {
  std::vector<std::string> texts = request.server;
  texts.insert(texts.end(), {request.project, request.control});
  for (const std::string& text : texts) {
    if (text.find("{env:") != std::string::npos || text.find("{file:") != std::string::npos) {
      throw support::CallError(text +
                               ": opencode replaces {env: and {file: in its settings; "
                               "rename the directory");
    }
  }
}

/// Read from there whatever the environment says, and would give the agent its tools back.
void RequireNoHomeSettings(const Environment& environment) {
  const fs::path directory = fs::path(Value(environment, "HOME")) / ".opencode";
  for (const char* name : {"opencode.json", "opencode.jsonc", "agent", "agents", "mode", "modes",
                           "plugin", "plugins", "tool", "tools"}) {
    const fs::path path = directory / name;
    std::error_code missing;
    if (fs::exists(path, missing) && !(fs::is_directory(path, missing) && fs::is_empty(path))) {
      throw support::CallError(path.string() + " would change what the agent may do; move it to " +
                               SettingsHome(environment) +
                               "/opencode, which limactl mcp run leaves out");
    }
  }
}

std::string RandomPassword() {
  std::random_device random;
  std::ostringstream password;
  password << std::hex;
  for (int i = 0; i < 6; ++i) password << random();
  return password.str();
}

constexpr std::array kTerminalOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"-c"},
    AllowedOption{"--continue"},
    AllowedOption{"-s", OptionValue::kRequired},
    AllowedOption{"--session", OptionValue::kRequired},
    AllowedOption{"--fork"},
    AllowedOption{"--prompt", OptionValue::kRequired},
    AllowedOption{"--agent", OptionValue::kRequired},
    AllowedOption{"--print-logs"},
    AllowedOption{"--log-level", OptionValue::kRequired},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
    AllowedOption{"-v"},
    AllowedOption{"--version"},
};
constexpr std::array kRunOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"-c"},
    AllowedOption{"--continue"},
    AllowedOption{"-s", OptionValue::kRequired},
    AllowedOption{"--session", OptionValue::kRequired},
    AllowedOption{"--fork"},
    AllowedOption{"--share"},
    AllowedOption{"--agent", OptionValue::kRequired},
    AllowedOption{"--format", OptionValue::kRequired},
    AllowedOption{"--title", OptionValue::kRequired},
    AllowedOption{"--variant", OptionValue::kRequired},
    AllowedOption{"--thinking"},
    AllowedOption{"--print-logs"},
    AllowedOption{"--log-level", OptionValue::kRequired},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
};
constexpr std::array kModes = {Mode{"", kTerminalOptions, false}, Mode{"run", kRunOptions, true}};

constexpr std::string_view kPortReason =
    "it opens a port of the host, which the guest could run commands through";
constexpr std::array kRefused = {
    RefusedOption{"--auto", kTrustReason},
    RefusedOption{"--yolo", kTrustReason},
    RefusedOption{"--dangerously-skip-permissions", kTrustReason},
    RefusedOption{"--port", kPortReason},
    RefusedOption{"--hostname", kPortReason},
    RefusedOption{"--mdns", kPortReason},
    RefusedOption{"--attach", "that opencode is not confined"},
    RefusedOption{"--dir", kHostReason},
    RefusedOption{"--cwd", kHostReason},
    RefusedOption{"-f", kHostReason},
    RefusedOption{"--file", kHostReason},
};

std::optional<std::string> FindRefusedByOpencode(std::span<const std::string> arguments) {
  return FindRefused(arguments, {"opencode", kModes, kRefused, "put another -- before it"});
}

/// A repository of its own: opencode looks for settings from its directory up to the repository's
/// top, and without one up to "/".
void AddRepository(const LaunchRequest& request, Launch& launch) {
  const std::string git = request.directory + "/.git/";
  launch.files.push_back({git + "HEAD", "ref: refs/heads/main\n"});
  launch.files.push_back(
      {git + "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"});
  launch.files.push_back({git + "objects/info/packs", ""});
  launch.files.push_back({git + "refs/heads/.keep", ""});
}

/// The package files keep opencode from installing its SDK for plugins at each start.
void AddSettingsHome(const LaunchRequest& request, const std::string& settings, Launch& launch) {
  const std::string users = SettingsHome(request.environment) + "/opencode";
  launch.files.push_back({settings + "/opencode.json", UsersSettings(users).dump(2)});
  launch.files.push_back(
      {settings + "/package.json", R"({"dependencies":{"@opencode-ai/plugin":"*"}})"});
  launch.files.push_back({settings + "/package-lock.json",
                          R"({"lockfileVersion":3,"packages":{"":{"dependencies":)"
                          R"({"@opencode-ai/plugin":"*"}}}})"});
  launch.files.push_back({settings + "/node_modules/.keep", ""});
  for (const char* name : {"/AGENTS.md", "/themes", "/tui.json", "/tui.jsonc"}) {
    std::error_code missing;
    if (fs::exists(users + name, missing)) launch.links.push_back({settings + name, users + name});
  }
}

Launch LaunchOpencode(const LaunchRequest& request) {
  constexpr std::array<std::string_view, 2> kInstructionFiles = {"AGENTS.md", "CLAUDE.md"};
  constexpr std::array<std::string_view, 3> kUnset = {"OPENCODE*", "BUN_*", "AGENT"};
  RequireNoSubstitution(request);
  RequireNoHomeSettings(request.environment);
  Launch launch;
  launch.arguments = request.arguments;
  const std::string instructions = request.control + "/instructions.md";
  const std::string settings = request.control + "/config";
  launch.files = {
      {instructions, Preamble(request) + ProjectInstructions(request.project, kInstructionFiles)},
      {request.home + "/tmp/.keep", ""}};
  AddRepository(request, launch);
  AddSettingsHome(request, settings + "/opencode", launch);

  launch.environment = request.environment;
  Unset(launch.environment, kUnset);
  for (const char* name : {"OPENCODE_API_KEY", "OPENCODE_AUTH_CONTENT", "OPENCODE_MODELS_URL",
                           "OPENCODE_MODELS_PATH", "OPENCODE_DISABLE_MODELS_FETCH"}) {
    if (const auto kept = request.environment.find(name); kept != request.environment.end()) {
      launch.environment.insert(*kept);
    }
  }
  launch.environment.insert_or_assign("XDG_CONFIG_HOME", settings);
  launch.environment.insert_or_assign("TMPDIR", request.home + "/tmp");  // it loads libraries there
  launch.environment.insert_or_assign("OPENCODE_DB", request.home + "/opencode.db");
  for (const char* name :
       {"OPENCODE_PURE", "OPENCODE_DISABLE_PROJECT_CONFIG", "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD"}) {
    launch.environment.insert_or_assign(name, "1");
  }
  launch.environment.insert_or_assign("OPENCODE_SERVER_PASSWORD", RandomPassword());
  launch.environment.insert_or_assign("OPENCODE_PERMISSION", Permission(request).dump());
  launch.environment.insert_or_assign("OPENCODE_CONFIG_CONTENT",
                                      Settings(request, instructions).dump());
  return launch;
}

std::vector<std::string> OpencodeSettings(const Environment& environment) {
  const std::string home = Value(environment, "HOME");
  return {SettingsHome(environment) + "/opencode", home + "/.opencode",
          ValueOr(environment, "XDG_DATA_HOME", home + "/.local/share") + "/opencode",
          ValueOr(environment, "XDG_STATE_HOME", home + "/.local/state") + "/opencode",
          ValueOr(environment, "XDG_CACHE_HOME", home + "/.cache") + "/opencode"};
}

}  // namespace

ConfinedAgent OpencodeAgent() {
  return {.name = "opencode",
          .title = "opencode",
          .program = "opencode",
          .package = "opencode-ai",
          .oldest = {1, 18, 33},
          .launch = &LaunchOpencode,
          .find_refused = &FindRefusedByOpencode,
          .settings = &OpencodeSettings};
}

}  // namespace agents
