// SPDX-License-Identifier: Apache-2.0
#include "agents/own_servers.h"

#include <algorithm>

#include "agents/common.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"

namespace agents {
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;
using support::LowerCase;
using support::Replaced;

/// How far instructions that import others are followed: as Claude Code does.
constexpr int kMaxImports = 5;

/// The keys of an entry that are kept, of any agent: none that allows calls without asking.
constexpr std::string_view kEntryKeys =
    "args authProviderType bearer_token_env_var command cwd disabled_tools enabled_tools env "
    "env_http_headers env_vars environment excludeTools headers headersHelper httpUrl http_headers "
    "includeTools oauth oauth_resource scopes startup_timeout_sec targetAudience "
    "targetServiceAccount timeout tool_timeout_sec type url";

/// The name for the agent. Agents call a tool SERVER_TOOL: with "_" in its name, a server could
/// pass for another one; with "-" in front, for an option.
std::string AgentsName(const std::string& option, std::string name, const LaunchRequest& request) {
  if (!support::Regex("[A-Za-z0-9][A-Za-z0-9_-]*").FullMatch(name)) {
    throw Error(
        "{}: the name \"{}\" is not a letter or digit, with more of them, "
        "\"-\" and \"_\" behind it; choose another",
        option, name);
  }
  std::replace(name.begin(), name.end(), '_', '-');
  const bool is_taken =
      LowerCase(name) == kServer ||
      std::any_of(request.servers.begin(), request.servers.end(), [&](const OwnServer& server) {
        return LowerCase(server.name) == LowerCase(name);
      });
  if (!is_taken) return name;
  throw Error("{}: another server is called \"{}\"; choose another name", option, name);
}

Json UsersEntry(const std::string& name, const Agent& agent, LaunchRequest& request) {
  if (!request.own_servers) request.own_servers = agent.run->own_servers(request.environment);
  const Json& servers = *request.own_servers;
  std::vector<std::string> names;
  for (const auto& [other, entry] : servers.items()) {
    names.push_back(other);
    if (other != name || !entry.is_object()) continue;
    Json chosen = Json::object();
    for (const std::string_view key : Words(kEntryKeys)) {
      if (const auto value = entry.find(key); value != entry.end())
        chosen[std::string(key)] = *value;
    }
    return chosen;
  }
  throw Error("--host-mcp: your own settings of {} have no server \"{}\"; {}", agent.title, name,
              names.empty() ? "add it there first" : Format("there are: {}", support::Join(names)));
}

std::string Text(const Json& object, const char* key, const std::string& otherwise = "") {
  const auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : otherwise;
}

/// The text with variables expanded, as agents and shells do it.
std::string Expanded(std::string text, const Environment& environment) {
  text = Replaced(text, "~/", Value(environment, "HOME") + "/");
  // The longest of names with the same beginning comes first.
  for (auto each = environment.rbegin(); each != environment.rend(); ++each) {
    for (const std::string& name :
         {"{env:" + each->first + "}", "${" + each->first + "}", "$" + each->first}) {
      text = Replaced(text, name, each->second);
    }
  }
  return text;
}

void RequireOutOfReach(const std::string& name, const Json& entry,
                       const exposure::GuestReach& reach, const Environment& environment) {
  const auto refuse = [&](const std::string& reason) {
    throw Error("--host-mcp {}: {}", name, reason);
  };
  const auto refuse_relative = [&](const std::string& path) {
    refuse(Format("{} is a relative path; write it from / on in your settings", path));
  };
  const Json values = entry.flatten();  // "/args/0": text
  const std::string directory = Expanded(Text(values, "/cwd", "/"), environment);
  if (!directory.starts_with('/')) refuse_relative(directory);
  for (const auto& [place, value] : values.items()) {
    if (!value.is_string()) continue;
    const std::string text = Expanded(value.get<std::string>(), environment);
    for (const char* open : {"${", "{env:", "{file:"}) {
      if (text.find(open) != text.npos)
        refuse(Format("{} names a file, or a variable that is not set; write its value", text));
    }
    const std::string first = text.substr(0, text.find('/'));
    if (first == "." || first == "..") refuse_relative(text);
    if (reach.IsNamedIn(text) || reach.MountHolding(fs::path(directory) / text))
      refuse(Format("{} is where the guest can write; keep the server elsewhere", text));
  }
  const std::string command =
      Expanded(Text(values, "/command", Text(values, "/command/0")), environment);
  if (command.find('/') == std::string::npos) {
    const std::string path = Text(values, "/env/PATH", Text(values, "/environment/PATH"));
    (void)reach.FindProgram(command, path + ":" + Value(environment, "PATH"));
  } else if (!command.starts_with('/')) {
    refuse_relative(command);
  }
}

/// Whether the setting at this JSON pointer is a command that a session may run.
bool IsHelper(const std::string& place) {
  static const support::Regex helper(
      "(?i).*(helper|refresh|credentialexport|auth/command|discoverycommand|callcommand)");
  return helper.FullMatch(place);
}

/// Whether a shell takes the words of a command as they are, and none leads into the guest's reach.
bool IsPlainCommand(const std::string& text, const exposure::GuestReach& reach,
                    const Environment& environment) {
  static const support::Regex plain("[A-Za-z0-9_./:=@%+, -]*");
  const std::vector<std::string_view> words = Words(text);
  if (!plain.FullMatch(text)) return false;
  for (const std::string_view word : words) {
    const std::size_t slash = word.find('/');
    if (slash != word.npos && reach.MountHolding(word.substr(slash))) return false;
  }
  if (words.empty() || words[0].starts_with('/')) return true;
  (void)reach.FindProgram(std::string(words[0]), Value(environment, "PATH"));
  return words[0].find('/') == std::string_view::npos;
}

/// Throws if the user's instructions import a file that the guest can write: text there would pass
/// for theirs.
void RequireSafeImports(const fs::path& file, const exposure::GuestReach& reach,
                        const Environment& environment, int depth) {
  static const support::Regex import(R"((?:^|\s)@(\S+))", support::Regex::kLatin1);
  std::error_code gone;
  if (depth == 0 || !fs::is_regular_file(file, gone)) return;
  const std::string text = support::ReadText(file);
  std::string_view rest = text;
  for (std::string path; import.FindAndConsume(rest, &path);) {
    const fs::path target = file.parent_path() / Expanded(path, environment);
    if (reach.MountHolding(target)) {
      throw Error("{} has \"@{}\", which is where the guest can write; keep that elsewhere",
                  support::Printable(file.string()), support::Printable(path));
    }
    RequireSafeImports(target, reach, environment, depth - 1);
  }
}

std::string ScriptPath(const LaunchRequest& request, const OwnServer& server) {
  return request.settings_directory + "/" + server.name + ".sh";
}

}  // namespace

void AddGuestServer(const std::string& value, LaunchRequest& request) {
  const std::size_t equals = value.find('=');
  if (equals == std::string::npos || equals + 1 == value.size()) {
    throw Error(
        "--mcp \"{}\": there is no command; write NAME=COMMAND, such as --mcp 'db=npx -y db-mcp'",
        value);
  }
  const std::string name = AgentsName("--mcp", value.substr(0, equals), request);
  request.servers.push_back({.name = name, .command = value.substr(equals + 1)});
}

void AddHostServer(const std::string& name, const Agent& agent, const exposure::GuestReach& reach,
                   LaunchRequest& request) {
  if (agent.run->own_servers == nullptr) {
    throw Error(
        "--host-mcp: {} does not ask before it calls a tool that only reads; "
        "start the server in the guest: --mcp NAME=COMMAND",
        agent.title);
  }
  const std::string agents_name = AgentsName("--host-mcp", name, request);
  Json entry = UsersEntry(name, agent, request);
  RequireOutOfReach(name, entry, reach, request.environment);
  request.servers.push_back({.name = agents_name, .entry = std::move(entry)});
}

void RequireSafeSettings(const Agent& agent, const exposure::GuestReach& reach,
                         const Environment& environment) {
  for (const OwnPath& own : agent.run->own_settings) {
    const fs::path directory = own.In(environment);
    for (const char* name : {"CLAUDE.md", "GEMINI.md"}) {
      RequireSafeImports(directory / name, reach, environment, kMaxImports);
    }
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(directory / "rules", none)) {
      RequireSafeImports(entry.path(), reach, environment, kMaxImports);
    }
  }
  if (agent.run->obeyed_settings == nullptr) return;
  const Json values = agent.run->obeyed_settings(environment).flatten();
  for (const auto& [place, value] : values.items()) {
    if (!value.is_string()) continue;
    const std::string text = Expanded(value.get<std::string>(), environment);
    if (reach.IsNamedIn(text)) {
      throw Error(
          "your own settings of {} have \"{}\" at {}, where the guest can write; "
          "keep that file elsewhere",
          agent.title, support::Printable(text), support::Printable(place));
    }
    if (!IsHelper(place) || IsPlainCommand(text, reach, environment)) continue;
    throw Error(
        "your own settings of {} have \"{}\" at {}, which may lead to where the guest can write: "
        "write one absolute path outside of the mounts",
        agent.title, support::Printable(text), support::Printable(place));
  }
}

Json OwnEntry(const LaunchRequest& request, const OwnServer& server) {
  if (!server.IsInGuest()) return server.entry;
  return {{"command", "/bin/sh"}, {"args", Json::array({ScriptPath(request, server)})}};
}

bool IsTrusted(const LaunchRequest& request, const OwnServer& server) {
  return request.trust && server.IsInGuest();
}

std::map<std::string, std::string> GuestScripts(const LaunchRequest& request) {
  std::map<std::string, std::string> scripts;
  for (const OwnServer& server : request.servers) {
    if (!server.IsInGuest()) continue;
    std::string& script = scripts[ScriptPath(request, server)];
    for (const auto& [name, value] : request.server_environment) {
      script += "export " + name + "=" + shell::ShellQuote(value) + "\n";
    }
    std::vector<std::string> command = request.guest_shell;
    command.push_back(server.command);
    script += "exec " + shell::ShellCommand(command) + "\n";
  }
  return scripts;
}

}  // namespace agents
