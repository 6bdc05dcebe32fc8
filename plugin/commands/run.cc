// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/agent.h"
#include "agents/own_servers.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "commands/serve_options.h"
#include "copy/project.h"
#include "copy/work.h"
#include "doctor/exposure.h"
#include "doctor/host_checks.h"
#include "exposure/guest_reach.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/sandbox.h"
#include "paths/names.h"
#include "shell/shell_quote.h"
#include "support/child.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/format.h"
#include "support/join.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/program.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using exposure::GuestReach;
using support::EnvironmentVariable;
using support::Error;

/// Agents read thousands of files before they print their version.
constexpr std::chrono::seconds kQueryTimeout{30};

fs::path FindAgentProgram(const Agent& agent, const std::string& path, const GuestReach& reach) {
  const auto program = reach.FindProgram(std::string(agent.name), path);
  if (program) return *program;
  throw Error(
      "{} is not installed: no program \"{}\" on PATH outside the project. Install it: "
      "npm install -g {}",
      agent.title, agent.name, agent.run->package);
}

/// Returns what the program prints on its standard output.
std::string OutputOf(const fs::path& program, const std::vector<std::string>& words) {
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), words.begin(), words.end());
  const auto context = support::Context().WithTimeout(kQueryTimeout);
  std::string output;
  try {
    support::Child child(command);
    child.CloseInput();
    while (const auto line = child.ReadLine(context)) output += *line + "\n";
    child.Finish(context);
  } catch (const support::Stopped&) {
    throw Error("{} does not exit; run it to see why", support::Join(command, " "));
  }
  return output;
}

/// Gives this process the directory and environment of the agent.
void Enter(const fs::path& directory, const support::Environment& environment) {
  fs::current_path(directory);
  for (const auto& [name, value] : support::OwnEnvironment()) {
    if (!environment.contains(name)) ::unsetenv(name.c_str());
  }
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
}

/// Queries it in `/`, where it reads no project's files.
void RequireVersion(const Agent& agent, const fs::path& program,
                    const support::Environment& environment) {
  Enter("/", environment);
  const std::string printed = OutputOf(program, agent.run->version);
  const auto version = support::ParseRelease(printed);
  if (version && *version >= agent.run->oldest) return;
  throw Error("{} {} cannot be confined; {} is the oldest that can. Update it: {}", agent.title,
              version ? support::ToString(*version) : "of an unknown version",
              support::ToString(agent.run->oldest),
              agents::UpdateCommand(*agent.run, fs::canonical(program).string()));
}

// Checks before the agent starts. Each throws support::Error if it fails.

constexpr const char* kMountedInstance = "mounted";

/// How deep settings can lie in an agent's directory.
constexpr int kSettingsDepth = 3;

/// The links in `directory` that lead into the guest's reach. Follows none of them. Adds files that
/// have other names to `hard_links`.
std::vector<std::string> LinksInto(const GuestReach& reach, const fs::path& directory, int depth,
                                   std::vector<std::string>* hard_links = nullptr) {
  std::vector<std::string> links;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() + 1 >= depth) entry.disable_recursion_pending();
    std::error_code gone;
    if (entry->is_symlink(gone) && reach.MountHolding(entry->path()))
      links.push_back(entry->path());
    const bool is_file = hard_links != nullptr && entry->is_regular_file(gone);
    if (is_file && entry->hard_link_count(gone) > 1 && !gone)
      hard_links->push_back(support::Printable(entry->path().string()));
  }
  return links;
}

void WarnOfLinks(const std::string& home, const GuestReach& reach) {
  std::vector<std::string> all;
  for (const char* name : {"", ".config", ".local/bin", "bin"}) {
    const auto links = LinksInto(reach, fs::path(home) / name, 1);
    all.insert(all.end(), links.begin(), links.end());
  }
  if (all.empty()) return;
  support::LogWarning(support::Format(
      "the guest can change what programs of the host read through {}", support::Join(all)));
}

/// Throws if the mounts of `configuration` are not those of the running VM, or let the guest out.
/// Warns of what else the guest can reach.
void CheckInstance(const Instance& instance, const std::string& project,
                   const support::Environment& environment) {
  const lima::InstanceConfiguration& configuration = instance.configuration;
  if (const auto file = doctor::ChangedAfterStart(configuration)) {
    throw Error(
        "{} was changed after the instance started, so the mounts may be others. Restart it: {}",
        file->string(), lima::RestartCommand(configuration.name));
  }
  const doctor::Exposure exposure =
      doctor::FindExposure(configuration, instance.mounts, project, environment);
  if (!exposure.escape.empty()) throw Error(exposure.escape);
  for (const doctor::Finding& other : exposure.other_instances)
    support::LogWarning(support::Format("{}: {}", other.text, other.advice));
  if (exposure.rest.empty()) return;
  support::LogWarning(support::Format("{}. An instance for the project alone: {}",
                                      support::Join(exposure.rest, "; "),
                                      lima::SandboxCommand("sandbox")));
}

/// Throws if the guest could write more of this host than the project.
void RequireNarrowMounts(const Instance& instance, const std::string& top) {
  const auto mount = instance.reach.MountOutside(top);
  if (!mount) return;
  const lima::InstanceConfiguration& configuration = instance.configuration;
  std::error_code unknown;
  throw Error(
      "the guest could write {}, which is more than {}. Mount that alone: {}. {}", *mount, top,
      fs::exists(configuration.lima_home / kMountedInstance, unknown)
          ? lima::EditCommands(configuration.name, " --mount-only " + shell::ShellQuote(top + ":w"))
          : lima::SandboxCommand(kMountedInstance, top),
      instance.CopyAdvice());
}

/// Throws if the guest could change what decides what the agent may do, also through links. Warns
/// of links in the user's home directory that lead into a mount.
void RequireOutOfReach(const Agent& agent, const agents::LaunchRequest& request,
                       const Instance& instance) {
  const lima::InstanceConfiguration& configuration = instance.configuration;
  const GuestReach& reach = instance.reach;
  const auto require = [&](const std::string& path, const std::string& what) {
    const auto mount = reach.MountHoldingOrBelow(path);
    if (!mount) return;
    const std::string text = support::Format("the guest could change {} ({})", what, path);
    if (fs::is_symlink(path)) {
      throw Error(
          "{}, a link into {}, which the guest can write. Replace the link by a copy of its target",
          text, *mount);
    }
    throw Error(
        "{}, since the instance mounts {} writable. Use an instance that mounts only the project: "
        "{}",
        text, *mount, lima::SandboxCommand("sandbox"));
  };
  std::vector<std::string> hard_links;
  const auto require_links = [&](const fs::path& directory, int depth, const std::string& what) {
    for (const std::string& link : LinksInto(reach, directory, depth, &hard_links))
      require(link, what);
  };
  for (const std::string& directory :
       {request.working_directory, request.agent_home, request.settings_directory}) {
    require(directory, "the settings of this session");
  }
  require(request.server.front(), "this program");
  const std::string limas = "Lima's configuration";
  for (const fs::path& directory :
       {configuration.lima_home, configuration.lima_home / "_config", configuration.directory()}) {
    require(directory, limas);
  }
  require_links(configuration.lima_home / "_config", 1, limas);
  require_links(configuration.directory(), 1, limas);
  for (const agents::OwnPath& own : agent.run->own_settings) {
    const std::string settings = own.In(request.environment);
    const std::string what = support::Format("your settings of {}", agent.title);
    require_links(settings, kSettingsDepth, what);
    require(settings, what);
  }
  if (!hard_links.empty()) {
    support::LogWarning(support::Format(
        "settings with several names; if another one is on a mount, the guest can change them: {}",
        paths::List(hard_links)));
  }
  agents::RequireSafeSettings(agent, reach, request.environment);
  WarnOfLinks(support::Value(request.environment, "HOME"), reach);
}

/// Removes variables that name files in the guest's reach, with a warning. Leaves HOME, LIMA_HOME
/// and PATH, which are checked by themselves.
void DropNamedFiles(const GuestReach& reach, support::Environment& environment) {
  const std::set<std::string> judged = {"HOME", "LIMA_HOME", "PATH"};
  const std::string home = support::Value(environment, "HOME");
  std::vector<std::string> dropped;
  for (const auto& [name, value] : environment) {
    const std::string text = value.starts_with("~/") ? home + value.substr(1) : value;
    if (!judged.contains(name) && reach.IsNamedIn(text)) dropped.push_back(name);
  }
  if (dropped.empty()) return;
  for (const std::string& name : dropped) environment.erase(name);
  support::LogWarning(support::Format(
      "left out, since they name files that the guest can write: {}", support::Join(dropped)));
}

// The start.

/// Becomes the agent.
[[noreturn]] void Start(const Agent& agent, const agents::LaunchRequest& request,
                        const fs::path& program) {
  agents::Launch launch = agent.run->launch(request);
  launch.files.merge(agents::GuestScripts(request));
  agents::WriteSessionFiles(request, launch);
  Enter(request.working_directory, launch.environment);
  if (!agent.run->query.empty()) {
    agent.run->use_output(request, OutputOf(program, agent.run->query), launch);
    agents::WriteSessionFiles(request, launch);
  }
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), launch.arguments.begin(), launch.arguments.end());
  support::Become(std::move(command));
}

/// The words that run `sh -c` in the project's directory in the guest.
std::vector<std::string> GuestShell(const Instance& instance, const copy::Work& work) {
  const auto limactl = instance.reach.FindProgram("limactl", EnvironmentVariable("PATH"));
  if (!limactl) {
    throw Error("--mcp needs limactl, but there is none on PATH outside the writable mounts");
  }
  return {limactl->string(),           "shell", "--workdir=" + work.GuestDirectory(),
          instance.configuration.name, "sh",    "-c"};
}

/// Fills the agent's request from the options, and from this process's environment without values
/// that lead into the guest's reach.
void FillRequest(const Agent& agent, const Parsed& parsed, const ServeOptions& serve,
                 const GuestReach& reach, const copy::Work& work, agents::LaunchRequest& request) {
  request.project = work.project();
  // These make a shell, Node.js or git read files of the caller's directory.
  request.environment = support::Changed(
      support::OwnEnvironment(), "BASH_ENV ENV GIT_* INIT_CWD NODE_OPTIONS NODE_PATH OLDPWD PWD");
  // Lima's files may name it.
  const std::string temporary = support::Value(request.environment, "TMPDIR");
  DropNamedFiles(reach, request.environment);
  request.environment["PATH"] = reach.SafeSearchPath(EnvironmentVariable("PATH"));
  request.server = {support::OwnProgram().string(), "serve", serve.instance.name};
  for (std::string& option : ServeArguments(parsed)) request.server.push_back(std::move(option));
  if (!work.ServerOption().empty()) request.server.push_back(work.ServerOption());
  // Some agents start it without their own environment.
  request.server_environment = {{"TMPDIR", temporary}};
  for (const std::string name : {"HOME", "LIMA_HOME", "PATH"}) {
    const std::string value = support::Value(request.environment, name);
    if (!value.empty()) request.server_environment[name] = value;
  }
  request.tools = ToolNames();
  auto limit = serve.tools.command_timeout;
  if (parsed.count("command-timeout") == 0 && agent.run->works_on(request.arguments)) {
    limit = {};
    request.server.emplace_back("--command-timeout=0");
  }
  request.call_timeout = CallTimeout(limit);
  request.trust = parsed["trust"].as<bool>();
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() == "host-mcp") agents::AddHostServer(option.value(), agent, reach, request);
  }
  const fs::path state = agents::StateDirectory(request.environment);
  agents::SetDirectories(state, agent, request);
  request.environment["PWD"] = request.working_directory;
  request.environment["TMPDIR"] = request.agent_home + "/tmp";
}

}  // namespace

/// The order of the steps is what makes them safe. Nothing is created or started before the options
/// are checked, as far as they do not depend on the instance's mounts. No program is looked up
/// before FindWork has taken out of PATH what the guest can write, except to see whether the agent
/// is there, and limactl to create `agent`, which mounts nothing. The agent's own program runs only
/// after its settings are known to be out of the guest's reach, even for its version. The baseline
/// exists before the agent can change anything. Both runs of it are children: Enter changes the
/// directory and environment of the process, and End must still report in the user's own.
int RunAgent(const Parsed& parsed) {
  const Agent& agent = FindAgent(parsed.Positional(0), true);
  const std::string instance = parsed.Positional(1, kAgentInstance);

  // Checks that need no instance.
  agents::LaunchRequest request;
  request.arguments = parsed.rest;
  if (const auto refused = agents::FindRefused(request.arguments, agent.run->rules))
    throw Error(*refused);
  const std::string directory = ReadCopyDirectory(parsed);
  const ServeOptions serve = ReadServeOptions(parsed, instance);
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() == "mcp") agents::AddGuestServer(option.value(), request);
  }
  (void)copy::FindProject();
  const std::string search_path = EnvironmentVariable("PATH");
  (void)FindAgentProgram(agent, search_path, GuestReach());

  // The work, which takes out of PATH what the guest can write, and the agent's request for it.
  const Instance loaded = LoadInstance(instance, true, !directory.empty());
  const std::unique_ptr<copy::Work> work = copy::FindWork(loaded, directory);
  if (!work->HasRoots() && parsed.count("root") > 0) {
    throw Error("--root is for mounted projects; in a copy there is nothing else");
  }
  RequireInstance(serve);
  FillRequest(agent, parsed, serve, loaded.reach, *work, request);
  if (parsed.count("mcp") > 0) request.guest_shell = GuestShell(loaded, *work);

  // Ways for the guest to get out. Then the version of the agent's own program.
  RequireUtf8(request.server);
  RequireUtf8({request.project, request.settings_directory});
  RequireOutOfReach(agent, request, loaded);
  const std::string top = copy::FindRepository(request.project).value_or(request.project);
  if (work->HasRoots()) RequireNarrowMounts(loaded, top);
  CheckInstance(loaded, top, request.environment);
  const fs::path program = FindAgentProgram(agent, search_path, loaded.reach);
  const auto check_version = [&] {
    RequireVersion(agent, program, request.environment);
    ::_exit(0);
  };
  if (support::RunInForeground(check_version) != 0) return 1;

  // The baseline, or the copy, is there before the agent starts.
  work->Begin();
  if (::isatty(STDERR_FILENO) != 0) {
    std::cerr << support::Format("Starting {} for {} in the Lima instance {}...\n", agent.title,
                                 support::Printable(work->Title()), instance);
  }
  const int exit_code = support::RunInForeground([&] { Start(agent, request, program); });
  work->End();
  return exit_code;
}

}  // namespace commands
