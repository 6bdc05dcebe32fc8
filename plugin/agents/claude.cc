// Claude Code. Its flags: `claude --help` and https://code.claude.com/docs/en/cli-reference; some
// are hidden. Unknown flags make it refuse to start, so one that vanishes is noticed; variables and
// settings that it does not know are ignored, hence the version.

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "agents/agents.h"
#include "agents/arguments.h"
#include "agents/project_text.h"
#include "support/join.h"

namespace agents {
namespace {

using nlohmann::json;

/// An allow-list: its own tools that neither read, write nor run anything on the host. Holds for
/// subagents too.
const std::vector<std::string>& OwnTools() {
  static const std::vector<std::string> kTools = {
      "Agent",     "AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TaskCreate",
      "TaskGet",   "TaskList",        "TaskOutput",    "TaskStop",     "TaskUpdate",
      "TodoWrite", "ToolSearch",      "WebFetch",      "WebSearch"};
  return kTools;
}

/// A second lock. Names that Claude Code does not know it warns of.
json DeniedTools() {
  return {"Artifact",
          "Bash",
          "CronCreate",
          "Edit",
          "EnterWorktree",
          "Glob",
          "Grep",
          "LSP",
          "Monitor",
          "NotebookEdit",
          "PowerShell",
          "Read",
          "ReadMcpResourceTool",
          "RemoteTrigger",
          "SendMessage",
          "Skill",
          "Workflow",
          "Write",
          "mcp__ide",
          "mcp__claude-in-chrome",
          "mcp__computer-use"};
}

json ServerEntry(const LaunchRequest& request) {
  return {{"type", "stdio"},
          {"command", request.server.front()},
          {"args", std::vector<std::string>(request.server.begin() + 1, request.server.end())},
          {"env", request.server_environment},
          {"timeout", request.call_timeout.count() * 1000},
          {"alwaysLoad", true}};
}

/// Hooks run on the host for what the model does, so the user's are off as well.
json Settings(const LaunchRequest& request) {
  json allow = json::array();
  if (request.trust) allow.push_back("mcp__" + std::string(kServer));
  return {{"permissions", {{"allow", std::move(allow)}, {"deny", DeniedTools()}}},
          {"disableAllHooks", true},
          {"disableSkillShellExecution", true},
          {"disableClaudeAiConnectors", true},
          {"disableWorkflows", true},
          {"disableArtifact", true},
          {"disableAgentView", true},
          {"enableAllProjectMcpServers", false},
          {"autoMemoryEnabled", false},
          {"includeGitInstructions", false}};
}

bool IsHarmlessMode(std::string_view mode) {
  constexpr std::array<std::string_view, 5> kModes = {"manual", "default", "plan", "dontAsk",
                                                      "acceptEdits"};
  return std::find(kModes.begin(), kModes.end(), mode) != kModes.end();
}

constexpr std::array kOptions = {
    AllowedOption{"-p"},
    AllowedOption{"--print"},
    AllowedOption{"-c"},
    AllowedOption{"--continue"},
    AllowedOption{"-r", OptionValue::kOptional},
    AllowedOption{"--resume", OptionValue::kOptional},
    AllowedOption{"--fork-session"},
    AllowedOption{"--session-id", OptionValue::kRequired},
    AllowedOption{"-n", OptionValue::kRequired},
    AllowedOption{"--name", OptionValue::kRequired},
    AllowedOption{"--model", OptionValue::kRequired},
    AllowedOption{"--fallback-model", OptionValue::kRequired},
    AllowedOption{"--effort", OptionValue::kRequired},
    AllowedOption{"--output-format", OptionValue::kRequired},
    AllowedOption{"--input-format", OptionValue::kRequired},
    AllowedOption{"--include-partial-messages"},
    AllowedOption{"--replay-user-messages"},
    AllowedOption{"--json-schema", OptionValue::kRequired},
    AllowedOption{"--max-turns", OptionValue::kRequired},
    AllowedOption{"--max-budget-usd", OptionValue::kRequired},
    AllowedOption{"--no-session-persistence"},
    AllowedOption{"--append-system-prompt", OptionValue::kRequired},
    AllowedOption{"--system-prompt", OptionValue::kRequired},
    AllowedOption{"--permission-mode", OptionValue::kRequired, &IsHarmlessMode},
    AllowedOption{"--verbose"},
    AllowedOption{"-h"},
    AllowedOption{"--help"},
    AllowedOption{"-v"},
    AllowedOption{"--version"},
};
constexpr std::array kModes = {Mode{"", kOptions, true, true}};
constexpr std::array kPrintModes = {Mode{"", kOptions, true}};

constexpr std::string_view kServersReason = "it adds servers or plugins that run on the host";
constexpr std::string_view kToolsReason = "it changes which tools the agent has";
constexpr std::array kRefused = {
    RefusedOption{"--dangerously-skip-permissions", kTrustReason},
    RefusedOption{"--allow-dangerously-skip-permissions", kTrustReason},
    RefusedOption{"--permission-mode", kTrustReason},
    RefusedOption{"--settings", kSettingsReason},
    RefusedOption{"--setting-sources", kSettingsReason},
    RefusedOption{"--managed-settings", kSettingsReason},
    RefusedOption{"--bare", kSettingsReason},
    RefusedOption{"--restricted", kSettingsReason},
    RefusedOption{"--mcp-config", kServersReason},
    RefusedOption{"--plugin-dir", kServersReason},
    RefusedOption{"--plugin-url", kServersReason},
    RefusedOption{"--agents", kServersReason},
    RefusedOption{"--agent", kServersReason},
    RefusedOption{"--chrome", kServersReason},
    RefusedOption{"--ide", kServersReason},
    RefusedOption{"--tools", kToolsReason},
    RefusedOption{"--allowedTools", kToolsReason},
    RefusedOption{"--allowed-tools", kToolsReason},
    RefusedOption{"--disallowedTools", kToolsReason},
    RefusedOption{"--disallowed-tools", kToolsReason},
    RefusedOption{"--add-dir", kHostReason},
    RefusedOption{"-w", kHostReason},
    RefusedOption{"--worktree", kHostReason},
};

/// Unless -p comes first, it takes a word for a command, also behind "--".
std::optional<std::string> FindRefusedByClaude(std::span<const std::string> arguments) {
  if (std::find(arguments.begin(), arguments.end(), "--") != arguments.end()) {
    return "-- is not passed on to Claude Code: it may take what follows for a command";
  }
  const bool prints =
      !arguments.empty() && (arguments.front() == "-p" || arguments.front() == "--print");
  return FindRefused(arguments,
                     {"Claude Code", prints ? kPrintModes : kModes, kRefused, "begin with -p"});
}

Launch LaunchClaude(const LaunchRequest& request) {
  constexpr std::array<std::string_view, 3> kInstructionFiles = {"CLAUDE.md", "CLAUDE.local.md",
                                                                 "AGENTS.md"};
  constexpr std::array<std::string_view, 21> kUnset = {
      "CLAUDECODE",
      "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD",
      "CLAUDE_CODE_COORDINATOR_MODE",
      "CLAUDE_CODE_ENTRYPOINT",
      "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS",
      "CLAUDE_CODE_INLINE_TOOLS",
      "CLAUDE_CODE_MANAGED_SETTINGS_PATH",
      "CLAUDE_CODE_PLUGIN_DIRS",
      "CLAUDE_CODE_PROJECT_DIR_NAME",
      "CLAUDE_CODE_REMOTE",
      "CLAUDE_CODE_REPL",
      "CLAUDE_CODE_RESTRICTED",
      "CLAUDE_CODE_SAFE_MODE",
      "CLAUDE_CODE_SHELL_MCP_SERVERS",
      "CLAUDE_CODE_SHELL_PREFIX",
      "CLAUDE_CODE_SIMPLE",
      "CLAUDE_CODE_SSE_PORT",
      "CLAUDE_CODE_TEAMMATE_COMMAND",
      "CLAUDE_CODE_UPFRONT_TOOLS",
      "CLAUDE_ENV_FILE",
      "BUN_*"};
  Launch launch;
  const std::string& control = request.control;
  launch.arguments = {
      "--setting-sources=user", "--strict-mcp-config", "--mcp-config=" + control + "/mcp.json",
      "--settings=" + control + "/settings.json", "--tools=" + support::Join(OwnTools(), ","),
      "--no-chrome", "--append-system-prompt-file=" + control + "/instructions.md",
      "--append-subagent-system-prompt-file=" + control + "/instructions.md",
      // A later one wins; the default lets a classifier decide.
      "--permission-mode=manual"};
  launch.arguments.insert(launch.arguments.end(), request.arguments.begin(),
                          request.arguments.end());
  launch.environment = request.environment;
  Unset(launch.environment, kUnset);
  launch.environment.insert_or_assign("CLAUDE_CODE_SANDBOXED", "1");  // the directory is trusted
  launch.environment.insert_or_assign("CLAUDE_CODE_AUTO_CONNECT_IDE", "false");
  launch.environment.insert_or_assign("CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL", "1");
  launch.environment.insert_or_assign("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1");
  launch.environment.insert_or_assign("CLAUDE_CODE_DISABLE_CRON", "1");
  launch.environment.insert_or_assign("ENABLE_CLAUDEAI_MCP_SERVERS", "false");
  launch.files = {
      {control + "/mcp.json", json({{"mcpServers", {{kServer, ServerEntry(request)}}}}).dump(2)},
      {control + "/settings.json", Settings(request).dump(2)},
      {control + "/instructions.md",
       Preamble(request) + ProjectInstructions(request.project, kInstructionFiles)},
  };
  return launch;
}

std::vector<std::string> ClaudeSettings(const Environment& environment) {
  const std::string home = Value(environment, "HOME");
  const std::string own = Value(environment, "CLAUDE_CONFIG_DIR");
  if (!own.empty()) return {own};
  return {home + "/.claude", home + "/.claude.json"};
}

}  // namespace

ConfinedAgent ClaudeAgent() {
  return {.name = "claude",
          .title = "Claude Code",
          .program = "claude",
          .package = "@anthropic-ai/claude-code",
          .oldest = {2, 1, 330},
          .launch = &LaunchClaude,
          .find_refused = &FindRefusedByClaude,
          .settings = &ClaudeSettings};
}

}  // namespace agents
