#include "configure/agents.h"

#include <algorithm>
#include <array>
#include <utility>

namespace configure {
namespace {

using Kind = Change::Kind;

// The project: command-line agents start servers in their own working directory, editors replace
// the variable by the folder that is open.
constexpr std::string_view kWorkingDirectory = ".";
constexpr std::string_view kWorkspaceFolder = "${workspaceFolder}";

constexpr const char* kTrustInEditor = "--trust: allow the server's tools in the editor itself.";

std::string Server() {
  return std::string(kServerName);
}

/// The project's file or the user's.
std::string Path(const Request& request, std::string_view project, const std::string& user) {
  return request.user ? user : std::string(project);
}

Json ArgumentsFrom(const Request& request, std::size_t first, std::string_view root) {
  Json arguments = Json::array();
  for (std::size_t i = first; i < request.launch.size(); ++i)
    arguments.push_back(request.launch[i]);
  arguments.push_back(request.instance);
  bool has_root = false;
  for (const std::string& option : request.options) {
    arguments.push_back(option);
    has_root |= option.starts_with("--root=");
  }
  if (!has_root) arguments.insert(arguments.end(), {"--root", root});
  return arguments;
}

void AddEnvironment(const Request& request, const char* name, Json& entry) {
  if (request.lima_home) entry[name] = {{"LIMA_HOME", *request.lima_home}};
}

/// The entry that most agents read.
Json CommandEntry(const Request& request, std::string_view root) {
  Json entry = {{"command", request.launch.front()}, {"args", ArgumentsFrom(request, 1, root)}};
  AddEnvironment(request, "env", entry);
  return entry;
}

// Claude Code ------------------------------------------------------------------------------------

// Claude Code does not offer a denied tool to the model. It warns about names that it does not
// know, so only today's are here. The worktree tools run git on the host.
constexpr std::string_view kClaudeTools =
    "Bash PowerShell Monitor Read Edit Write Glob NotebookEdit Grep LSP EnterWorktree ExitWorktree";

AgentSettings ClaudeSettings(const Request& request) {
  const std::string& own = request.directories.claude_home;
  const std::string& home = request.directories.home;
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.timeout_seconds * 1000;
  entry["alwaysLoad"] = true;  // offered without a search for tools
  // Permissions of a project can only be stored in the project.
  SettingsFile settings = {
      .path = Path(request, ".claude/settings.local.json",
                   (own.empty() ? home + "/.claude" : own) + "/settings.json"),
      .changes = {{Kind::kList, {"permissions", "deny"}, Words(kClaudeTools)}}};
  if (request.trust) {
    settings.changes.push_back({Kind::kList, {"permissions", "allow"}, {"mcp__" + Server()}});
    if (request.project_files) {
      settings.changes.push_back({Kind::kList, {"enabledMcpjsonServers"}, {Server()}});
    }
  }
  const std::string users = (own.empty() ? home : own) + "/.claude.json";
  if (!request.user && !request.project_files) {  // Claude Code calls this the local scope
    const KeyPath path = {"projects", request.project_key, "mcpServers", Server()};
    return {.files = {std::move(settings),
                      {.path = users, .changes = {{Kind::kEntry, path, std::move(entry)}}}}};
  }
  AgentSettings all = {
      .files = {std::move(settings),
                {.path = Path(request, ".mcp.json", users),
                 .changes = {{Kind::kEntry, {"mcpServers", Server()}, std::move(entry)}}}}};
  if (request.project_files) {
    all.notes.emplace_back(
        request.trust
            ? "Claude Code uses the permission only in a folder that you have told it to trust."
            : "Claude Code asks once whether this project's server may run, and before each call "
              "(\"claude mcp list\" says \"Pending approval\" until then).");
  }
  return all;
}

// Codex ------------------------------------------------------------------------------------------

AgentSettings CodexSettings(const Request& request) {
  std::vector<std::string> add = {"codex", "mcp", "add", Server()};
  if (request.lima_home) add.insert(add.end(), {"--env", "LIMA_HOME=" + *request.lima_home});
  add.emplace_back("--");
  for (const Json& word : ArgumentsFrom(request, 0, kWorkingDirectory)) add.push_back(word);
  const auto server = [](const char* name, Json value) {
    return Change{Kind::kSetting, {"mcp_servers", Server(), name}, std::move(value)};
  };
  // The tool apply_patch cannot be switched off; in a read-only sandbox it asks.
  AgentSettings all = {
      .files = {{.path = Path(request, ".codex/config.toml",
                              request.directories.codex_home + "/config.toml"),
                 .format = Format::kToml,
                 .changes = {{Kind::kSetting, {"sandbox_mode"}, "read-only"},
                             {Kind::kSetting, {"features", "shell_tool"}, false},
                             {Kind::kSetting, {"features", "view_image"}, false},
                             server("startup_timeout_sec", kStartupTimeoutSeconds),
                             server("tool_timeout_sec", request.timeout_seconds),
                             server("supports_parallel_tool_calls", true),
                             // Offered without a search for tools.
                             server("omit_tools_from", {"deferred"})}}},
      .add_command = std::move(add),
      .remove_command = {"codex", "mcp", "remove", Server()},
      .notes = {
          "Codex has no switch for its tool apply_patch (openai/codex issue 8161): sandbox_mode = "
          "\"read-only\" makes it ask you before it changes a file. Say no: it would work on the "
          "host."}};
  if (request.trust) {
    all.files[0].changes.push_back(server("default_tools_approval_mode", "approve"));
  }
  if (!request.user) {
    all.notes.emplace_back(
        "Codex reads this file only in a project that it trusts, and asks once.");
  }
  return all;
}

// Cursor -----------------------------------------------------------------------------------------

AgentSettings CursorSettings(const Request& request) {
  const std::string own = request.directories.home + "/.cursor";
  const Json hook = {{"command", "sh -c 'exit 2'"},
                     {"matcher", "Shell|Read|Write|Grep|Delete"},
                     {"failClosed", true}};
  AgentSettings all = {
      .files = {{.path = Path(request, ".cursor/hooks.json", own + "/hooks.json"),
                 .changes = {{Kind::kDefault, {"version"}, 1},
                             {Kind::kList, {"hooks", "preToolUse"}, Json::array({hook})}}},
                {.path = Path(request, ".cursor/cli.json", own + "/cli-config.json"),
                 // cursor-agent requires both lists.
                 .changes = {{Kind::kDefault, {"permissions", "allow"}, Json::array()},
                             {Kind::kDefault, {"permissions", "deny"}, Json::array()},
                             {Kind::kList,
                              {"permissions", "deny"},
                              {"Shell(*)", "Read(**)", "Write(**)"}}}},
                {.path = Path(request, ".cursor/mcp.json", own + "/mcp.json"),
                 .changes = {{Kind::kEntry,
                              {"mcpServers", Server()},
                              CommandEntry(request, kWorkspaceFolder)}}}},
      .notes = {"The hook (exit code 2: blocked) stops the editor's own tools Shell, Read, Write, "
                "Grep and Delete; the deny list stops those of cursor-agent. Cursor asks once "
                "whether the server may run."}};
  if (request.trust) {
    all.files[1].changes.push_back(
        {Kind::kList, {"permissions", "allow"}, Json::array({"Mcp(" + Server() + ":*)"})});
    all.notes.emplace_back(
        "--trust applies to cursor-agent; the editor keeps a list of its own, in its settings.");
  }
  return all;
}

// Gemini CLI -------------------------------------------------------------------------------------

// An allow-list of all tools, those of MCP servers included. Gemini CLI reads no policy files from
// a project, and warns that "exclude" is deprecated.
constexpr std::string_view kGeminiTools =
    "google_web_search web_fetch write_todos update_topic UpdateTopicTool ask_user activate_skill "
    "invoke_agent";

AgentSettings GeminiSettings(const Request& request) {
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.timeout_seconds * 1000;
  if (request.trust) entry["trust"] = true;
  Json tools = Json::array();
  for (const std::string& tool : request.tools) tools.push_back("mcp_" + Server() + "_" + tool);
  SettingsFile file = {
      .path = Path(request, ".gemini/settings.json",
                   request.directories.gemini_home + "/.gemini/settings.json"),
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

// opencode ---------------------------------------------------------------------------------------

AgentSettings OpencodeSettings(const Request& request) {
  SettingsFile file = {
      .path =
          Path(request, "opencode.json", request.directories.config + "/opencode/opencode.json"),
      .alternatives = {Path(request, "opencode.jsonc",
                            request.directories.config + "/opencode/opencode.jsonc")}};
  file.changes.push_back({Kind::kRules,
                          {"permission"},
                          OpencodePermission(request.trust),
                          "only the tools that cannot reach the host stay on"});
  Json entry = {{"type", "local"}, {"command", ArgumentsFrom(request, 0, kWorkingDirectory)}};
  AddEnvironment(request, "environment", entry);
  entry["enabled"] = true;
  entry["timeout"] = request.timeout_seconds * 1000;
  file.changes.push_back({Kind::kEntry, {"mcp", Server()}, std::move(entry)});
  return {.files = {std::move(file)}};
}

// Visual Studio Code -----------------------------------------------------------------------------

constexpr const char* kVscodeAgent = R"(---
name: lima
description: Works in the Lima virtual machine, without the editor's own file and terminal tools
tools: ['lima/*']
---
Read, search and change files and run commands with the tools of the MCP server lima only.
They work inside a virtual machine.
)";

AgentSettings VscodeSettings(const Request& request) {
  const std::string& own = request.directories.vscode_user;
  Json entry = {{"type", "stdio"}};
  entry.update(CommandEntry(request, kWorkspaceFolder));
  AgentSettings all = {
      .files = {{.path =
                     Path(request, ".github/agents/lima.agent.md", own + "/prompts/lima.agent.md"),
                 .format = Format::kText,
                 .text = kVscodeAgent},
                {.path = Path(request, ".vscode/settings.json", own + "/settings.json"),
                 .changes = {{Kind::kSetting,
                              {"chat.newSession.defaultMode"},
                              Server(),
                              "other agents have the editor's tools"}}},
                {.path = Path(request, ".vscode/mcp.json", own + "/mcp.json"),
                 .changes = {{Kind::kEntry, {"servers", Server()}, std::move(entry)}}}},
      .notes = {
          "Visual Studio Code has no setting that switches its own tools off: new chats "
          "start with the agent \"lima\", which has only the tools of this server. Chats with "
          "another agent have the editor's tools."}};
  if (request.trust) all.notes.emplace_back(kTrustInEditor);
  return all;
}

// Zed --------------------------------------------------------------------------------------------

AgentSettings ZedSettings(const Request& request) {
  Json entry = CommandEntry(request, kWorkingDirectory);
  entry["timeout"] = request.timeout_seconds;
  SettingsFile file = {.path = Path(request, ".zed/settings.json",
                                    request.directories.config + "/zed/settings.json")};
  if (request.user) {
    Json tools = Json::object();
    for (const std::string& tool : request.tools) tools[tool] = true;
    // Tools that a profile does not name are off.
    file.changes = {{Kind::kEntry,
                     {"agent", "profiles", Server()},
                     {{"name", "Lima"},
                      {"tools", {{"thinking", true}}},
                      {"enable_all_context_servers", false},
                      {"context_servers", {{Server(), {{"tools", tools}}}}}}},
                    {Kind::kSetting,
                     {"agent", "default_profile"},
                     Server(),
                     "other profiles have the editor's tools"}};
  }
  file.changes.push_back({Kind::kEntry, {"context_servers", Server()}, std::move(entry)});
  AgentSettings all = {.files = {std::move(file)}};
  if (request.user) {
    all.notes.emplace_back(
        "New threads start with the profile \"Lima\", which has only the tools of this server. "
        "Threads with another profile have the editor's tools.");
  } else {
    all.notes = {
        "Zed's own tools are NOT switched off: Zed reads that only from your own settings. "
        "\"limactl mcp configure zed --user\" does it.",
        "Zed reads this file only in a project that it trusts, and asks once."};
  }
  if (request.trust) all.notes.emplace_back(kTrustInEditor);
  return all;
}

}  // namespace

Json OpencodePermission(bool trust) {
  return {{"**", "deny"},          {Server() + "_**", trust ? "allow" : "ask"},
          {"invalid*", "allow"},   {"todowrite*", "allow"},
          {"question*", "allow"},  {"plan_enter*", "allow"},
          {"plan_exit*", "allow"}, {"websearch*", "allow"},
          {"webfetch*", "ask"},    {"doom_loop*", "ask"}};
}

std::span<const Agent> Agents() {
  static const std::array<Agent, 7> kAgents = {{
      {"claude", "Claude Code", "claude", {".claude"}, &ClaudeSettings, true, true},
      {"codex", "Codex", "codex", {".codex"}, &CodexSettings, true},
      {"cursor", "Cursor", "cursor cursor-agent", {".cursor"}, &CursorSettings},
      {"gemini", "Gemini CLI", "gemini", {".gemini"}, &GeminiSettings, true},
      {"opencode", "opencode", "opencode", {".config/opencode"}, &OpencodeSettings, true},
      {"vscode",
       "Visual Studio Code",
       "code",
       {".vscode", ".config/Code", "Library/Application Support/Code"},
       &VscodeSettings},
      {"zed", "Zed", "zed zeditor", {".config/zed"}, &ZedSettings},
  }};
  return kAgents;
}

std::vector<std::string_view> Words(std::string_view text) {
  constexpr std::string_view kSpace = " \n";
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(kSpace)));
    text.remove_prefix(words.back().size());
  }
}

}  // namespace configure
