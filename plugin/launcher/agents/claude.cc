// SPDX-License-Identifier: Apache-2.0
// Claude Code. Its flags: `claude --help` and https://code.claude.com/docs/en/cli-reference; some
// are hidden. It refuses unknown flags, but ignores unknown variables and settings: hence the
// oldest version.

#include <algorithm>
#include <cstdlib>

#include "agents/common.h"
#include "agents/own_servers.h"
#include "support/format.h"
#include "support/regex.h"

namespace agents {
namespace {

/// An allow-list: tools that neither read, write nor run anything on the host. Holds for subagents
/// too.
constexpr const char* kOwnTools =
    "--tools=Agent,AskUserQuestion,EnterPlanMode,ExitPlanMode,TaskCreate,TaskGet,TaskList,"
    "TaskOutput,TaskStop,TaskUpdate,TodoWrite,ToolSearch,WebFetch,WebSearch";

/// A second lock. Claude Code warns about names that it does not know.
constexpr std::string_view kDeniedTools =
    "Artifact Bash CronCreate Edit EnterWorktree Glob Grep LSP Monitor NotebookEdit PowerShell "
    "Read ReadMcpResourceTool RemoteTrigger SendMessage Skill Workflow Write mcp__ide "
    "mcp__claude-in-chrome mcp__computer-use";

Json ClaudeServerEntry(const ServerRequest& request, std::string_view root) {
  Json entry = CommandEntry(request, root);
  entry["timeout"] = std::chrono::milliseconds(request.call_timeout).count();
  entry["alwaysLoad"] = true;  // offered without a search for tools
  return entry;
}

Json ClaudeServers(const LaunchRequest& request) {
  Json servers = {{kServer, ClaudeServerEntry(request, request.project)}};
  for (const OwnServer& server : request.servers) {
    Json& entry = servers[server.name] = OwnEntry(request, server);
    entry["alwaysLoad"] = true;
  }
  return servers;
}

constexpr const char* kAllTools = "mcp__lima";

/// The user's hooks are off as well: they would run on the host for what the model does.
constexpr const char* kClaudeSettings = R"({
  "disableAllHooks": true, "disableSkillShellExecution": true, "disableClaudeAiConnectors": true,
  "disableWorkflows": true, "disableArtifact": true, "disableAgentView": true,
  "enableAllProjectMcpServers": false, "autoMemoryEnabled": false, "includeGitInstructions": false
})";

Json ClaudeSettings(const LaunchRequest& request) {
  Json allow = Json::array();
  if (request.trust) allow.push_back(kAllTools);
  Json ask = Json::array();  // whatever the user's own settings allow
  for (const OwnServer& server : request.servers) {
    if (IsTrusted(request, server)) allow.push_back("mcp__" + server.name);
    if (!server.IsInGuest()) ask.push_back("mcp__" + server.name);
  }
  Json settings = Json::parse(kClaudeSettings);
  settings["permissions"] = {
      {"allow", std::move(allow)}, {"ask", std::move(ask)}, {"deny", Words(kDeniedTools)}};
  return settings;
}

constexpr std::string_view kClaudeOptions =
    "-p --print -c --continue -r? --resume? --fork-session --session-id= -n= --name= --model= "
    "--fallback-model= --effort= --output-format= --input-format= --include-partial-messages "
    "--replay-user-messages --json-schema= --max-turns= --max-budget-usd= "
    "--no-session-persistence --append-system-prompt= --system-prompt= "
    "--permission-mode=manual|default|plan|dontAsk|acceptEdits --verbose -h --help -v --version";
// Unless -p is the first argument, Claude Code takes a word for a command, even after "--".
constexpr std::array kClaudeModes = {Mode{"", kClaudeOptions, true, true},
                                     Mode{"-p", kClaudeOptions, true},
                                     Mode{"--print", kClaudeOptions, true}};

constexpr std::array kClaudeRefusals = {
    Refusal{kTrustReason,
            "--dangerously-skip-permissions --allow-dangerously-skip-permissions "
            "--permission-mode"},
    Refusal{kSettingsReason, "--settings --setting-sources --managed-settings --bare --restricted"},
    Refusal{"it adds servers or plugins that run on the host",
            "--mcp-config --plugin-dir --plugin-url --agents --agent --chrome --ide"},
    Refusal{"it changes which tools the agent has",
            "--tools --allowedTools --allowed-tools --disallowedTools --disallowed-tools"},
    Refusal{kHostReason, "--add-dir -w --worktree"},
    Refusal{"it may take what follows for a command", "--"},
};

/// CLAUDE_CODE_SANDBOXED: the directory is trusted. CLAUDE_AUTO_BACKGROUND_TASKS: with -p, the
/// result of a slow call is lost.
constexpr std::string_view kClaudeVariables =
    "CLAUDECODE CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD CLAUDE_CODE_COORDINATOR_MODE "
    "CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS CLAUDE_CODE_INLINE_TOOLS "
    "CLAUDE_CODE_MANAGED_SETTINGS_PATH CLAUDE_CODE_PLUGIN_DIRS CLAUDE_CODE_PROJECT_DIR_NAME "
    "CLAUDE_CODE_REMOTE CLAUDE_CODE_REPL CLAUDE_CODE_RESTRICTED CLAUDE_CODE_SAFE_MODE "
    "CLAUDE_CODE_SHELL_MCP_SERVERS CLAUDE_CODE_SHELL_PREFIX CLAUDE_CODE_SIMPLE "
    "CLAUDE_CODE_SSE_PORT CLAUDE_CODE_TEAMMATE_COMMAND CLAUDE_CODE_UPFRONT_TOOLS CLAUDE_ENV_FILE "
    "BUN_* CLAUDE_AUTO_BACKGROUND_TASKS CLAUDE_CODE_SANDBOXED=1 CLAUDE_CODE_AUTO_CONNECT_IDE=false "
    "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL=1 CLAUDE_CODE_DISABLE_AUTO_MEMORY=1 "
    "CLAUDE_CODE_DISABLE_CRON=1 ENABLE_CLAUDEAI_MCP_SERVERS=false";

/// Without -p, it moves a slow call to the background, and wakes the model when the call ends.
bool IsInteractive(const std::vector<std::string>& arguments) {
  return std::ranges::count(arguments, "-p") + std::ranges::count(arguments, "--print") == 0;
}

Launch LaunchClaude(const LaunchRequest& request) {
  const std::string mcp = request.settings_directory + "/mcp.json";
  const std::string settings = request.settings_directory + "/settings.json";
  const std::string instructions = request.settings_directory + "/instructions.md";
  Launch launch = {
      .arguments = {"--setting-sources=user", "--strict-mcp-config", "--mcp-config=" + mcp,
                    "--settings=" + settings, kOwnTools, "--no-chrome",
                    "--append-system-prompt-file=" + instructions,
                    "--append-subagent-system-prompt-file=" + instructions,
                    // The last one wins. By default, a classifier decides.
                    "--permission-mode=manual"},
      .environment = Changed(request.environment, kClaudeVariables),
      .files = {{mcp, Json({{"mcpServers", ClaudeServers(request)}}).dump(2)},
                {settings, ClaudeSettings(request).dump(2)},
                {instructions, Instructions(request, "CLAUDE.md CLAUDE.local.md AGENTS.md")}}};
  if (IsInteractive(request.arguments)) {
    const auto [time, is_ours] =  // by default two minutes
        launch.environment.emplace("CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS", "10000");
    const std::string off =
        support::Value(launch.environment, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS");
    const bool is_on = std::atol(time->second.c_str()) > 0 &&
                       !support::Regex(R"((?i)\s*(?:1|true|yes|on)\s*)").FullMatch(off);
    if (is_on) {
      launch.files[instructions] += support::Format(
          "\nA call that takes {} goes to the background; you are told when it ends. "
          "Do not poll.\n",
          is_ours ? "longer than 10 s" : "long");
    }
  }
  launch.arguments.insert(launch.arguments.end(), request.arguments.begin(),
                          request.arguments.end());
  return launch;
}

constexpr OwnPath kClaudeOwnDirectory = {"CLAUDE_CONFIG_DIR", "/.claude"};
constexpr OwnPath kOwnFile = {"CLAUDE_CONFIG_DIR", "", "/.claude.json"};

Json ClaudeOwnServers(const Environment& environment) {
  return ReadSettings(kOwnFile.In(environment)).value("mcpServers", Json::object());
}

Json ClaudeObeyedSettings(const Environment& environment) {
  Json settings = ReadSettings(kClaudeOwnDirectory.In(environment) + "/settings.json");
  for (const char* key : {"hooks", "permissions"}) settings.erase(key);  // ours switch them off
  return settings;
}

// Claude Code does not offer a denied tool to the model. It warns about names that it does not
// know, so only today's are here. The worktree tools run git on the host.
constexpr std::string_view kClaudeTools =
    "Bash PowerShell Monitor Read Edit Write Glob NotebookEdit Grep LSP EnterWorktree ExitWorktree";

std::vector<Step> SetUpClaude(const ServerRequest& request) {
  const Json entry = ClaudeServerEntry(request, kWorkingDirectory);
  return {AddServer({"claude", "mcp", "add-json", kServer, entry.dump()}),
          AddSettings("Switch its own tools off. Add to .claude/settings.local.json",
                      {{"permissions", {{"deny", Words(kClaudeTools)}}}})};
}

}  // namespace

Agent Claude() {
  return {.name = "claude",
          .title = "Claude Code",
          .programs = "claude",
          .clients = {"claude-code"},
          .obeys = {{".claude/", RunBy::kAgent, "Claude Code, Copilot CLI",
                     "hooks, helpers and servers; read again while it runs", Writing::kRefused},
                    {".mcp.json", RunBy::kAgent, "Claude Code, Copilot CLI", "servers are commands",
                     Writing::kRefused},
                    {"CLAUDE*.md", RunBy::kAgent, "agents", "instructions"}},
          .set_up = &SetUpClaude,
          .run = Confinement{.package = "@anthropic-ai/claude-code",
                             .update = "claude update",
                             .oldest = {2, 1, 330},
                             .launch = &LaunchClaude,
                             .rules = {"Claude Code", kClaudeModes, kClaudeRefusals},
                             .works_on = &IsInteractive,
                             .own_settings = {kClaudeOwnDirectory, kOwnFile},
                             .obeyed_settings = &ClaudeObeyedSettings,
                             .own_servers = &ClaudeOwnServers}};
}

}  // namespace agents
