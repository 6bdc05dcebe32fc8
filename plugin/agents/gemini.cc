// Gemini CLI. Sources: packages/cli/src/config/{config,settings}.ts and packages/core/src/policy of
// google-gemini/gemini-cli. The policy file and the settings each confine it by themselves.

#include <array>
#include <nlohmann/json.hpp>

#include "agents/agents.h"
#include "agents/arguments.h"
#include "agents/project_text.h"

namespace agents {
namespace {

using nlohmann::json;

/// Never set: its default is what stands for a literal "$".
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

/// By env(1), as the values of "env" would be expanded a second time.
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

/// Of the working directory: they override the user's own.
json Settings(const LaunchRequest& request) {
  return {{"mcpServers", {{kServer, ServerEntry(request)}}},
          {"tools",
           // An allow-list of its own tools.
           {{"core",
             {"google_web_search", "web_fetch", "write_todos", "update_topic", "UpdateTopicTool",
              "ask_user"}},
            {"allowed", json::array()},
            {"useRipgrep", false},
            {"discoveryCommand", ""},
            {"callCommand", ""},
            {"sandbox", false}}},
          {"mcp", {{"serverCommand", ""}}},
          {"hooksConfig", {{"enabled", false}}},
          {"skills", {{"enabled", false}}},
          {"experimental",
           {{"enableAgents", false},
            {"autoMemory", false},
            {"worktrees", false},
            {"extensionManagement", false}}},
          {"general",
           {{"plan", {{"enabled", false}}},
            {"checkpointing", {{"enabled", false}}},
            {"defaultApprovalMode", "default"}}},
          {"context",
           {{"fileName", json::array({"GEMINI.md"})},
            {"memoryBoundaryMarkers", json::array()},
            {"includeDirectoryTree", false},
            {"loadMemoryFromIncludeDirectories", false}}},
          {"security", {{"folderTrust", {{"enabled", false}}}, {"toolSandboxing", false}}},
          {"ide", {{"enabled", false}}}};
}

std::string Rule(const json& tools, std::string_view decision, int priority) {
  // An array of strings is the same in JSON and TOML.
  return "[[rule]]\ntoolName = " + tools.dump() + "\ndecision = \"" + std::string(decision) +
         "\"\npriority = " + std::to_string(priority) + "\n\n";
}

/// Tools by their full names: a call that must be confirmed is checked again without its server.
std::string Policy(const LaunchRequest& request) {
  json ours = json::array();
  for (const std::string& tool : request.tools) {
    ours.push_back("mcp_" + std::string(kServer) + "_" + tool);
  }
  return Rule("*", "deny", 900) + Rule(ours, request.trust ? "allow" : "ask_user", 990) +
         Rule({"google_web_search", "write_todos", "update_topic"}, "allow", 990) +
         Rule({"web_fetch", "ask_user"}, "ask_user", 990);
}

/// An "@" at the start of a word would import a file of the host.
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

constexpr std::array kOptions = {
    AllowedOption{"-m", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"-p", OptionValue::kRequired},
    AllowedOption{"--prompt", OptionValue::kRequired},
    AllowedOption{"-i", OptionValue::kRequired},
    AllowedOption{"--prompt-interactive", OptionValue::kRequired},
    AllowedOption{"-o", OptionValue::kRequired},
    AllowedOption{"--output-format", OptionValue::kRequired},
    AllowedOption{"-r", OptionValue::kOptional},
    AllowedOption{"--resume", OptionValue::kOptional},
    AllowedOption{"--session-id", OptionValue::kRequired},
    AllowedOption{"--list-sessions"},
    AllowedOption{"--delete-session", OptionValue::kRequired},
    AllowedOption{"-d"},
    AllowedOption{"--debug"},
    AllowedOption{"--screen-reader"},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
    AllowedOption{"-v"},
    AllowedOption{"--version"},
};
constexpr std::array kModes = {Mode{"", kOptions, true, true}};

constexpr std::string_view kPolicyReason = "it changes which tools the agent may call";
constexpr std::string_view kServersReason = "it adds servers or commands that run on the host";
constexpr std::array kRefused = {
    RefusedOption{"-y", kTrustReason},
    RefusedOption{"--yolo", kTrustReason},
    RefusedOption{"--approval-mode", kTrustReason},
    RefusedOption{"--admin-policy", kPolicyReason},
    RefusedOption{"--policy", kPolicyReason},
    RefusedOption{"--allowed-tools", kPolicyReason},
    RefusedOption{"--allowed-mcp-server-names", kServersReason},
    RefusedOption{"-e", kServersReason},
    RefusedOption{"--extensions", kServersReason},
    RefusedOption{"--acp", kServersReason},
    RefusedOption{"--experimental-acp", kServersReason},
    RefusedOption{"--include-directories", kHostReason},
    RefusedOption{"-w", kHostReason},
    RefusedOption{"--worktree", kHostReason},
    RefusedOption{"-s", "the server does not run in its container"},
    RefusedOption{"--sandbox", "the server does not run in its container"},
};

std::optional<std::string> FindRefusedByGemini(std::span<const std::string> arguments) {
  return FindRefused(arguments, {"Gemini CLI", kModes, kRefused, "put another -- before it"});
}

Launch LaunchGemini(const LaunchRequest& request) {
  constexpr std::array<std::string_view, 2> kInstructionFiles = {"GEMINI.md", "AGENTS.md"};
  constexpr std::array<std::string_view, 14> kUnset = {"GEMINI_CLI_IDE_*",
                                                       "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
                                                       "GEMINI_CLI_NO_RELAUNCH",
                                                       "GEMINI_CLI_EXTENSION_REGISTRY_URI",
                                                       "GEMINI_CLI_INTEGRATION_TEST",
                                                       "GEMINI_SYSTEM_MD",
                                                       "GEMINI_WRITE_SYSTEM_MD",
                                                       "GEMINI_SANDBOX*",
                                                       "GEMINI_TELEMETRY_OUTFILE",
                                                       "SANDBOX*",
                                                       "BUILD_SANDBOX",
                                                       "SEATBELT_PROFILE",
                                                       "DEV",
                                                       kUnsetVariable};
  Launch launch;
  const std::string policy = request.control + "/policy.toml";
  // --policy as well: an administrator's policies switch --admin-policy off.
  launch.arguments = {
      "--admin-policy",     policy,         "--policy", policy, "--allowed-mcp-server-names",
      std::string(kServer), "--extensions", "none"};
  launch.arguments.insert(launch.arguments.end(), request.arguments.begin(),
                          request.arguments.end());
  launch.environment = request.environment;
  Unset(launch.environment, kUnset);
  // Settings of an untrusted directory do not count, and without them there is no server.
  launch.environment.insert_or_assign("GEMINI_CLI_TRUST_WORKSPACE", "true");
  launch.environment.insert_or_assign("GEMINI_CLI_TRUSTED_FOLDERS_PATH",
                                      request.home + "/trustedFolders.json");
  launch.files = {
      {policy, Policy(request)},
      {request.directory + "/.gemini/settings.json", Settings(request).dump(2)},
      {request.home + "/trustedFolders.json", json({{request.directory, "TRUST_FOLDER"}}).dump()},
      {request.directory + "/GEMINI.md",
       WithoutImports(Preamble(request) + ProjectInstructions(request.project, kInstructionFiles))},
  };
  return launch;
}

std::vector<std::string> GeminiSettings(const Environment& environment) {
  const std::string home = Value(environment, "HOME");
  return {ValueOr(environment, "GEMINI_CLI_HOME", home) + "/.gemini", home + "/.agents",
          home + "/.env"};
}

}  // namespace

ConfinedAgent GeminiAgent() {
  return {.name = "gemini",
          .title = "Gemini CLI",
          .program = "gemini",
          .package = "@google/gemini-cli",
          .oldest = {0, 36, 0},
          .launch = &LaunchGemini,
          .find_refused = &FindRefusedByGemini,
          .settings = &GeminiSettings};
}

}  // namespace agents
