// SPDX-License-Identifier: Apache-2.0
// GitHub Copilot CLI. Its flags: `copilot --help`, `copilot help permissions` and `copilot help
// environment`.
//
// Its settings cannot switch its tools off, flags can. Three locks, of which each one suffices: the
// list of available tools, that of excluded ones, and permissions.

#include "agents/common.h"
#include "agents/own_servers.h"
#include "support/errors.h"

namespace agents {
namespace {

constexpr std::string_view kTitle = "Copilot CLI";

/// Its own that neither read, write nor run anything on the host, and ours.
constexpr const char* kAvailableTools =
    "--available-tools=ask_user,exit_plan_mode,task_complete,web_fetch,lima";

/// Copilot CLI warns about names that it does not know.
constexpr const char* kExcludedTools =
    "--excluded-tools=custom:*,apply_patch,bash,create,edit,fetch_copilot_cli_documentation,glob,"
    "grep,list_agents,list_bash,lsp,manage_schedule,read_agent,read_bash,semantic_code_search,"
    "session_store_sql,skill,sql,stop_bash,task,tool_search_tool,view,write_agent";

constexpr const char* kTrust = "--allow-tool=lima";

// Larger results become a file on the host, which it cannot read.
constexpr const char* kLargestResult = "COPILOT_LARGE_OUTPUT_THRESHOLD_BYTES=200000";

Json CompletedCopilotEntry(Json entry, const ServerRequest& request) {
  entry.emplace("tools", Json::array({"*"}));
  entry.emplace("timeout", std::chrono::milliseconds(request.call_timeout).count());
  entry["deferTools"] = "never";  // offered without a search for tools
  return entry;
}

Json CopilotServerEntry(const ServerRequest& request, std::string_view root) {
  Json entry = {{"type", "stdio"}};
  entry.update(CommandEntry(request, root));
  return CompletedCopilotEntry(std::move(entry), request);
}

/// Whether the flags give a server's name another meaning.
bool IsNameOfTools(const std::string& name) {
  const std::string names =
      std::string(kAvailableTools) + "," + kExcludedTools + ",memory,read,shell,url,write,";
  return names.find("," + name + ",") != names.npos || names.find("=" + name + ",") != names.npos;
}

Json CopilotServers(const LaunchRequest& request) {
  Json servers = {{kServer, CopilotServerEntry(request, request.project)}};
  for (const OwnServer& server : request.servers) {
    if (IsNameOfTools(server.name)) {
      throw support::Error("--mcp: Copilot CLI has tools called \"{}\"; choose another name",
                           server.name);
    }
    servers[server.name] = CompletedCopilotEntry(OwnEntry(request, server), request);
  }
  return servers;
}

/// Keys copied from the user's settings: the model and the looks.
constexpr std::string_view kCopilotUsersKeys =
    "autoTier banner bannerStyle beep colorMode compactPaste contextTier copyOnSelect editorMode "
    "effortLevel footer inlineImages keepAlive model mouse notifications "
    "proxyKerberosServicePrincipal "
    "proxyUrl renderMarkdown screenReader scrollbar showTipsOnStartup stream streamerMode tabs "
    "terminalNotifications terminalProgress theme updateTerminalTitle";

/// Keys copied from config.json, which Copilot CLI writes itself.
constexpr std::string_view kLoginKeys = "authTokens lastLoggedInUser loggedInUsers";

constexpr const char* kCopilotSettings = R"({
  "disableAllHooks": true, "extensions": {"mode": "disabled"}, "memory": false,
  "ide": {"autoConnect": false}
})";

constexpr std::string_view kCopilotOptions =
    "-p= --prompt= -i= --interactive= -s --silent --model= --reasoning-effort= --context= "
    "--auto-tier= --continue -r? --resume? -n= --name= --session-id= "
    "--mode=interactive|plan|autopilot --autopilot --plan --max-autopilot-continues= "
    "--max-ai-credits= --no-ask-user --output-format= --stream= --no-color --banner "
    "--screen-reader --plain-diff --mouse? --no-mouse --log-level= --disable-client-telemetry -h "
    "--help -v --version";
constexpr std::array kCopilotModes = {
    Mode{"", kCopilotOptions},
    Mode{"login", "--host= --device-code --web-flow --with-token -h --help"}};

constexpr std::array kCopilotRefusals = {
    Refusal{kTrustReason,
            "--allow-tool --allow-all-tools --allow-all --yolo --assisted-approval "
            "--trust-folder"},
    Refusal{"it changes which tools the agent has",
            "--available-tools --excluded-tools --deny-tool --experimental --enable-memory"},
    Refusal{"it adds servers, agents or plugins that run on the host",
            "--additional-mcp-config --enable-mcp-server --plugin-dir --agent --acp "
            "--extension-sdk-path"},
    Refusal{kHostReason,
            "--add-dir --allow-all-paths -C --attachment --share --log-dir --bash-env"},
    Refusal{"others could use the session", "--remote --remote-export --connect --share-gist"},
};

constexpr OwnPath kCopilotUsersHome = {"COPILOT_HOME", "/.copilot"};

/// A login by `run` is in the session's own file.
Json Config(const LaunchRequest& request, const std::string& users_home) {
  Json config = ChosenSettings(
      kTitle, {request.agent_home + "/config.json", users_home + "/config.json"}, kLoginKeys);
  config["trustedFolders"] = {request.working_directory};
  return config;
}

Json CopilotSettings(const std::string& users_home) {
  Json settings = ChosenSettings(kTitle, {users_home + "/settings.json"}, kCopilotUsersKeys);
  settings.update(Json::parse(kCopilotSettings));
  return settings;
}

constexpr std::string_view kCopilotVariables =
    "COPILOT_* GITHUB_COPILOT_* USE_TGREP* USE_BUILTIN_RIPGREP COPILOT_AUTO_UPDATE=false "
    "COPILOT_DISABLE_RESUME_AUTO_CD=1 +COPILOT_AUTO_TIER +COPILOT_CACHE_HOME "
    "+COPILOT_DISABLE_TERMINAL_TITLE +COPILOT_EDITOR +COPILOT_GH_HOST +COPILOT_GITHUB_TOKEN "
    "+COPILOT_MODEL +COPILOT_MULTIPLEXER +COPILOT_OFFLINE +COPILOT_PROVIDER_* ";

constexpr std::string_view kFlags =
    "--deny-tool=shell --deny-tool=write --deny-tool=read --deny-tool=memory "
    "--disable-builtin-mcps --allow-all-mcp-server-instructions --disallow-temp-dir --no-remote "
    "--no-remote-export --no-auto-update --no-experimental --no-bash-env";

std::vector<std::string> Arguments(const LaunchRequest& request, const std::string& mcp) {
  if (!request.arguments.empty() && request.arguments.front() == "login") return request.arguments;
  std::string available = kAvailableTools;
  for (const OwnServer& server : request.servers) available += "," + server.name;
  std::vector<std::string> arguments = {available, kExcludedTools,
                                        "--additional-mcp-config=@" + mcp};
  for (const std::string_view flag : Words(kFlags)) arguments.emplace_back(flag);
  if (request.trust) arguments.emplace_back(kTrust);
  for (const OwnServer& server : request.servers) {
    if (IsTrusted(request, server)) arguments.push_back("--allow-tool=" + server.name);
  }
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  return arguments;
}

Launch LaunchCopilot(const LaunchRequest& request) {
  const std::string mcp = request.settings_directory + "/mcp.json";
  const std::string users_home = kCopilotUsersHome.In(request.environment);
  Launch launch = {
      .arguments = Arguments(request, mcp),
      .environment = Changed(request.environment, std::string(kCopilotVariables) + kLargestResult),
      .files = {{mcp, Json({{"mcpServers", CopilotServers(request)}}).dump(2)},
                {request.agent_home + "/config.json", Config(request, users_home).dump(2)},
                {request.agent_home + "/settings.json", CopilotSettings(users_home).dump(2)},
                {request.agent_home + "/mcp-config.json", R"({"mcpServers": {}})"},
                {request.working_directory + "/AGENTS.md",
                 Instructions(request, ".github/copilot-instructions.md AGENTS.md CLAUDE.md")}}};
  launch.files.merge(
      EmptyRepository(request.working_directory));  // there the search for settings ends
  launch.environment["COPILOT_HOME"] = request.agent_home;
  const std::string instructions = "/copilot-instructions.md";
  launch.links[request.agent_home + instructions] = users_home + instructions;
  return launch;
}

std::vector<Step> SetUpCopilot(const ServerRequest& request) {
  return {
      AddServer({"copilot", "mcp", "add", kServer, "--timeout", Milliseconds(request)}, request),
      {"Switch its own tools off, which only this flag does. Start it with:",
       support::Format("{} copilot --available-tools={}", kLargestResult, kServer)}};
}

}  // namespace

Agent Copilot() {
  return {.name = "copilot",
          .title = kTitle,
          .programs = "copilot",
          .clients = {"copilot-cli"},
          .obeys = {{".github/agents/ .github/copilot/ .github/extensions/ .github/hooks/ "
                     ".github/skills/ .github/lsp.json .github/mcp.json",
                     RunBy::kAgent, "Copilot CLI, Visual Studio Code", "servers, hooks and skills",
                     Writing::kRefused},
                    {".github/copilot-instructions.md .github/instructions/", RunBy::kAgent,
                     "agents", "instructions"}},
          .set_up = &SetUpCopilot,
          .run = Confinement{.package = "@github/copilot",
                             .update = "curl -fsSL https://gh.io/copilot-install | bash",
                             .oldest = {1, 0, 85},
                             .version = {"--version", "--no-auto-update"},
                             .launch = &LaunchCopilot,
                             .rules = {kTitle, kCopilotModes, kCopilotRefusals},
                             // Its program is unpacked into the cache.
                             .own_settings = {kCopilotUsersHome,
                                              {"", "/.agents"},
                                              {"XDG_CONFIG_HOME", "/.config", "/gh"},
                                              {"COPILOT_CACHE_HOME", "/.cache/copilot"},
                                              {"XDG_CACHE_HOME", "/.cache", "/copilot"}}}};
}

}  // namespace agents
