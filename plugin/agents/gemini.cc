// Gemini CLI. Sources: packages/cli/src/config/{config,settings}.ts and packages/core/src/policy of
// google-gemini/gemini-cli. The policy file and the settings are two independent locks.

#include <array>
#include <nlohmann/json.hpp>

#include "agents/agent.h"
#include "agents/arguments.h"
#include "agents/server_entry.h"

namespace agents {
namespace {

using Kind = configure::Change::Kind;
using configure::Json;
using configure::SettingsFile;
using nlohmann::json;
using paths::RunBy;
using paths::Writing;

/// Never set, so that its default "$" is used.
constexpr std::string_view kUnsetVariable = "LIMACTL_MCP_NOT_SET";

/// Gemini CLI expands $NAME and ${NAME:-DEFAULT} in every string of its settings, once.
std::string Literal(const std::string& text) {
  std::string literal;
  for (const char c : text) {
    if (c == '$') {
      literal.append("${").append(kUnsetVariable).append(":-$}");
    } else {
      literal += c;
    }
  }
  return literal;
}

/// With env(1): Gemini CLI would expand the values of "env" a second time.
json ServerEntry(const LaunchRequest& request) {
  json arguments = json::array();
  for (const auto& [name, value] : request.server_environment) {
    arguments.push_back(Literal(name + "=" + value));
  }
  for (const std::string& word : request.server) arguments.push_back(Literal(word));
  return {{"command", "/usr/bin/env"},
          {"args", std::move(arguments)},
          {"timeout", request.call_timeout.count() * 1000},
          {"trust", request.trust}};
}

/// "core" is an allow-list of its own tools.
constexpr const char* kSettings = R"({
  "tools": {
    "core": ["google_web_search", "web_fetch", "write_todos", "update_topic", "UpdateTopicTool",
             "ask_user"],
    "allowed": [], "useRipgrep": false, "discoveryCommand": "", "callCommand": "", "sandbox": false
  },
  "mcp": {"serverCommand": ""},
  "hooksConfig": {"enabled": false},
  "skills": {"enabled": false},
  "experimental": {"enableAgents": false, "autoMemory": false, "worktrees": false,
                   "extensionManagement": false},
  "general": {"plan": {"enabled": false}, "checkpointing": {"enabled": false},
              "defaultApprovalMode": "default"},
  "context": {"fileName": ["GEMINI.md"], "memoryBoundaryMarkers": [],
              "includeDirectoryTree": false, "loadMemoryFromIncludeDirectories": false},
  "security": {"folderTrust": {"enabled": false}, "toolSandboxing": false},
  "ide": {"enabled": false}
})";

/// In the working directory, so that they override the user's own.
json Settings(const LaunchRequest& request) {
  json settings = json::parse(kSettings);
  settings["mcpServers"] = {{kServer, ServerEntry(request)}};
  return settings;
}

std::string Rule(const json& tools, std::string_view decision, int priority) {
  // An array of strings is the same in JSON and TOML.
  return "[[rule]]\ntoolName = " + tools.dump() + "\ndecision = \"" + std::string(decision) +
         "\"\npriority = " + std::to_string(priority) + "\n\n";
}

/// Names the tools in full: a call to confirm is checked again without its server.
std::string Policy(const LaunchRequest& request) {
  json ours = json::array();
  for (const std::string& tool : request.tools) {
    ours.push_back("mcp_" + std::string(kServer) + "_" + tool);
  }
  return Rule("*", "deny", 900) + Rule(ours, request.trust ? "allow" : "ask_user", 990) +
         Rule({"google_web_search", "write_todos", "update_topic"}, "allow", 990) +
         Rule({"web_fetch", "ask_user"}, "ask_user", 990);
}

/// Escapes "@" at the start of a word, which would import a file of the host.
std::string WithoutImports(const std::string& text) {
  std::string result;
  char before = ' ';
  for (const char c : text) {
    if (c == '@' && (before == ' ' || before == '\t' || before == '\n' || before == '\r')) {
      result += '\\';
    }
    result += c;
    before = c;
  }
  return result;
}

constexpr std::array kModes = {
    Mode{"",
         "-m= --model= -p= --prompt= -i= --prompt-interactive= -o= --output-format= -r? --resume? "
         "--session-id= --list-sessions --delete-session= -d --debug --screen-reader -h --help -v "
         "--version",
         true, true}};

constexpr std::array kRefusals = {
    Refusal{kTrustReason, "-y --yolo --approval-mode"},
    Refusal{"it changes which tools the agent may call", "--admin-policy --policy --allowed-tools"},
    Refusal{"it adds servers or commands that run on the host",
            "--allowed-mcp-server-names -e --extensions --acp --experimental-acp"},
    Refusal{kHostReason, "--include-directories -w --worktree"},
    Refusal{"the server does not run in its container", "-s --sandbox"},
};

constexpr std::string_view kUnset =
    "GEMINI_CLI_IDE_* GEMINI_CLI_TRUSTED_FOLDERS_PATH GEMINI_CLI_NO_RELAUNCH "
    "GEMINI_CLI_EXTENSION_REGISTRY_URI GEMINI_CLI_INTEGRATION_TEST GEMINI_SYSTEM_MD "
    "GEMINI_WRITE_SYSTEM_MD GEMINI_SANDBOX* GEMINI_TELEMETRY_OUTFILE SANDBOX* BUILD_SANDBOX "
    "SEATBELT_PROFILE DEV";

Launch LaunchGemini(const LaunchRequest& request) {
  Launch launch;
  const std::string policy = request.control + "/policy.toml";
  // --policy too, since an administrator's policies switch --admin-policy off.
  launch.arguments = {
      "--admin-policy",     policy,         "--policy", policy, "--allowed-mcp-server-names",
      std::string(kServer), "--extensions", "none"};
  launch.arguments.insert(launch.arguments.end(), request.arguments.begin(),
                          request.arguments.end());
  launch.environment = request.environment;
  Unset(launch.environment, kUnset);
  Unset(launch.environment, kUnsetVariable);
  // Without trust in its directory, Gemini CLI ignores the settings there, and has no server.
  launch.environment["GEMINI_CLI_TRUST_WORKSPACE"] = "true";
  launch.environment["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] = request.home + "/trustedFolders.json";
  launch.files = {
      {policy, Policy(request)},
      {request.directory + "/.gemini/settings.json", Settings(request).dump(2)},
      {request.home + "/trustedFolders.json", json({{request.directory, "TRUST_FOLDER"}}).dump()},
      {request.directory + "/GEMINI.md",
       WithoutImports(Instructions(request, "GEMINI.md AGENTS.md"))},
  };
  return launch;
}

std::string OwnDirectory(const Environment& environment) {
  return DirectoryOr(environment, "GEMINI_CLI_HOME", Value(environment, "HOME")) + "/.gemini";
}

std::vector<std::string> OwnSettings(const Environment& environment) {
  const std::string home = Value(environment, "HOME");
  return {OwnDirectory(environment), home + "/.agents", home + "/.env"};
}

// An allow-list of all tools, those of MCP servers included. Gemini CLI reads no policy files from
// a project, and warns that "exclude" is deprecated.
constexpr std::string_view kGeminiTools =
    "google_web_search web_fetch write_todos update_topic UpdateTopicTool ask_user activate_skill "
    "invoke_agent";

AgentSettings Configure(const SettingsRequest& request) {
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.timeout_seconds * 1000;
  if (request.trust) entry["trust"] = true;
  Json tools = Json::array();
  for (const std::string& tool : request.tools) tools.push_back("mcp_" + Server() + "_" + tool);
  SettingsFile file = {
      .path = Path(request, ".gemini/settings.json",
                   OwnDirectory(request.environment) + "/settings.json"),
      .changes = {{Kind::kAllowedTools,
                   {"tools", "core"},
                   Words(kGeminiTools),
                   "it is a tool for the host, or one that configure does not know"},
                  // The allow-list would skip the question.
                  {Kind::kList,
                   {"tools", "confirmationRequired"},
                   {"web_fetch", "ask_user", "activate_skill"}},
                  {Kind::kSetting,
                   {"agents", "overrides", "codebase_investigator", "enabled"},
                   false,
                   "Gemini CLI delegates to it, but it is useless without file tools"}}};
  file.changes.push_back(
      {Kind::kList, {"tools", request.trust ? "core" : "confirmationRequired"}, tools});
  file.changes.push_back({Kind::kEntry, {"mcpServers", Server()}, std::move(entry)});
  AgentSettings all = {.files = {std::move(file)}};
  if (!request.user) {
    all.notes.emplace_back(
        "Gemini CLI reads this file only in a folder that it trusts, and asks once.");
  }
  return all;
}

}  // namespace

Agent Gemini() {
  return {.name = "gemini",
          .title = "Gemini CLI",
          .programs = "gemini",
          .directories = {".gemini"},
          .clients = {"gemini-cli-mcp-client"},
          .shown_bytes = std::size_t{36} * 1024,  // 40,000 characters, the middle cut
          .obeys = {{".gemini/", RunBy::kAgent, "Gemini CLI", "servers, hooks and tools",
                     Writing::kRefused},
                    {"GEMINI.md", RunBy::kPrompt, "agents", "instructions"}},
          .settings = &Configure,
          .run = Confinement{.package = "@google/gemini-cli",
                             .oldest = {0, 36, 0},
                             .has_settings_in_directory = true,
                             .launch = &LaunchGemini,
                             .rules = {"Gemini CLI", kModes, kRefusals, "put another -- before it"},
                             .own_settings = &OwnSettings}};
}

}  // namespace agents
