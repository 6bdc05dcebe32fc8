// SPDX-License-Identifier: Apache-2.0
// Gemini CLI. Sources: packages/cli/src/config/{config,settings}.ts and packages/core/src/policy of
// google-gemini/gemini-cli. The policy file and the settings are two independent locks.

#include "agents/common.h"
#include "agents/own_servers.h"
#include "support/regex.h"

namespace agents {
namespace {

Json GeminiServerEntry(const ServerRequest& request, std::string_view root) {
  Json entry = CommandEntry(request, root);
  entry["timeout"] = std::chrono::milliseconds(request.call_timeout).count();
  return entry;
}

/// "core" is an allow-list of its own tools.
constexpr const char* kGeminiSettings = R"({
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

/// Written to the working directory, so that they override the user's own.
Json GeminiSettings(const LaunchRequest& request) {
  Json settings = Json::parse(kGeminiSettings);
  Json& entry = settings["mcpServers"][kServer] = GeminiServerEntry(request, request.project);
  entry["trust"] = request.trust;
  for (const OwnServer& server : request.servers) {
    Json& own = settings["mcpServers"][server.name] = OwnEntry(request, server);
    own["trust"] = IsTrusted(request, server);
  }
  return settings;
}

/// By the names that Gemini CLI gives them.
Json ServersTools(const std::vector<std::string>& tools) {
  Json names = Json::array();
  for (const std::string& tool : tools) {
    names.push_back(std::string("mcp_") + kServer + "_" + tool);
  }
  return names;
}

std::string Rule(const Json& tools, std::string_view decision, int priority) {
  // An array of strings is the same in JSON and TOML.
  return "[[rule]]\ntoolName = " + tools.dump() + "\ndecision = \"" + std::string(decision) +
         "\"\npriority = " + std::to_string(priority) + "\n\n";
}

/// Names the tools in full: a call to confirm is checked again without its server.
std::string Policy(const LaunchRequest& request) {
  const Json ours = ServersTools(request.tools);
  std::string rules = Rule("*", "deny", 900) +
                      Rule(ours, request.trust ? "allow" : "ask_user", 990) +
                      Rule({"google_web_search", "write_todos", "update_topic"}, "allow", 990) +
                      Rule({"web_fetch", "ask_user"}, "ask_user", 990);
  bool asks = false;
  for (const OwnServer& server : request.servers) {
    if (IsTrusted(request, server)) rules += Rule("mcp_" + server.name + "_*", "allow", 990);
    asks |= !IsTrusted(request, server);
  }
  // The second check has another name for the server, so that only "mcp_*" matches. No servers
  // but those named by our flags are there.
  return asks ? rules + Rule("mcp_*", "ask_user", 950) : rules;
}

/// Escapes "@" at the start of a word, which would import a file of the host.
std::string WithoutImports(std::string text) {
  support::Regex(R"((^|[ \t\n\r])@)").ReplaceAll(text, R"(\1\\@)");
  return text;
}

constexpr std::array kGeminiModes = {
    Mode{"",
         "-m= --model= -p= --prompt= -i= --prompt-interactive= -o= --output-format= -r? --resume? "
         "--session-id= --list-sessions --delete-session= -d --debug --screen-reader -h --help -v "
         "--version",
         true, true}};

constexpr std::array kGeminiRefusals = {
    Refusal{kTrustReason, "-y --yolo --approval-mode"},
    Refusal{"it changes which tools the agent may call", "--admin-policy --policy --allowed-tools"},
    Refusal{"it adds servers or commands that run on the host",
            "--allowed-mcp-server-names -e --extensions --acp --experimental-acp"},
    Refusal{kHostReason, "--include-directories -w --worktree"},
    Refusal{"the server does not run in its container", "-s --sandbox"},
};

// Without trust in its directory, Gemini CLI ignores the settings there, and has no server.
constexpr std::string_view kGeminiVariables =
    "GEMINI_CLI_IDE_* GEMINI_CLI_TRUSTED_FOLDERS_PATH GEMINI_CLI_NO_RELAUNCH "
    "GEMINI_CLI_EXTENSION_REGISTRY_URI GEMINI_CLI_INTEGRATION_TEST GEMINI_SYSTEM_MD "
    "GEMINI_WRITE_SYSTEM_MD GEMINI_SANDBOX* GEMINI_TELEMETRY_OUTFILE SANDBOX* BUILD_SANDBOX "
    "SEATBELT_PROFILE DEV GEMINI_CLI_TRUST_WORKSPACE=true";

Launch LaunchGemini(const LaunchRequest& request) {
  const std::string policy = request.settings_directory + "/policy.toml";
  const std::string trusted_folders = request.agent_home + "/trustedFolders.json";
  Launch launch = {
      // --policy too, since an administrator's policies switch --admin-policy off.
      .arguments = {"--admin-policy", policy, "--policy", policy, "--allowed-mcp-server-names",
                    kServer, "--extensions", "none"},
      .environment = Changed(request.environment, kGeminiVariables),
      .files = {
          {policy, Policy(request)},
          {request.working_directory + "/.gemini/settings.json", GeminiSettings(request).dump(2)},
          {trusted_folders, Json({{request.working_directory, "TRUST_FOLDER"}}).dump()},
          {request.working_directory + "/GEMINI.md",
           WithoutImports(Instructions(request, "GEMINI.md AGENTS.md"))}}};
  for (const OwnServer& server : request.servers) {
    launch.arguments.insert(launch.arguments.end(), {"--allowed-mcp-server-names", server.name});
  }
  launch.arguments.insert(launch.arguments.end(), request.arguments.begin(),
                          request.arguments.end());
  launch.environment["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] = trusted_folders;
  return launch;
}

constexpr OwnPath kGeminiOwnDirectory = {"GEMINI_CLI_HOME", "", "/.gemini"};

Json GeminiOwnServers(const Environment& environment) {
  const std::string path = kGeminiOwnDirectory.In(environment) + "/settings.json";
  return ReadSettings(path).value("mcpServers", Json::object());
}

Json GeminiObeyedSettings(const Environment& environment) {
  Json settings = ReadSettings(kGeminiOwnDirectory.In(environment) + "/settings.json");
  for (const char* key : {"context", "mcpServers"}) settings.erase(key);  // read no program
  return settings;
}

// An allow-list of all tools, those of MCP servers included. Gemini CLI reads no policy files from
// a project, and warns that "exclude" is deprecated.
constexpr std::string_view kGeminiTools =
    "google_web_search web_fetch write_todos update_topic UpdateTopicTool ask_user activate_skill "
    "invoke_agent";

std::vector<Step> SetUpGemini(const ServerRequest& request) {
  const std::string program = ServerCommand(request, kWorkingDirectory).front();
  // The allow-list would skip the question.
  Json asking = {"web_fetch", "ask_user", "activate_skill"};
  for (const Json& tool : ServersTools(request.tools)) asking.push_back(tool);
  const Json tools = {{"core", Words(kGeminiTools)}, {"confirmationRequired", asking}};
  // Gemini CLI delegates to it, but it is useless without file tools.
  const Json agents = {{"overrides", {{"codebase_investigator", {{"enabled", false}}}}}};
  return {AddServer({"gemini", "mcp", "add", "--timeout", Milliseconds(request), kServer, program},
                    request, 1),
          AddSettings(
              "Switch its own tools off. Add to .gemini/settings.json, which Gemini CLI reads in a "
              "project that it trusts",
              {{"tools", tools}, {"agents", agents}})};
}

}  // namespace

Agent Gemini() {
  return {.name = "gemini",
          .title = "Gemini CLI",
          .programs = "gemini",
          .clients = {"gemini-cli-mcp-client"},
          .shown_bytes = std::size_t{36} * 1024,  // 40,000 characters, the middle cut
          .obeys = {{".gemini/", RunBy::kAgent, "Gemini CLI", "servers, hooks and tools",
                     Writing::kRefused},
                    {"GEMINI.md", RunBy::kAgent, "agents", "instructions"}},
          .set_up = &SetUpGemini,
          .run = Confinement{.package = "@google/gemini-cli",
                             .oldest = {0, 36, 0},
                             .has_settings_in_directory = true,
                             .launch = &LaunchGemini,
                             .rules = {"Gemini CLI", kGeminiModes, kGeminiRefusals},
                             .own_settings = {kGeminiOwnDirectory, {"", "/.agents"}, {"", "/.env"}},
                             .obeyed_settings = &GeminiObeyedSettings,
                             .own_servers = &GeminiOwnServers}};
}

}  // namespace agents
