// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
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
#include "exposure/guest_reach.h"
#include "lima/sandbox.h"
#include "network/denials.h"
#include "run/agent_program.h"
#include "run/confinement.h"
#include "run/port_process.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/program.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using exposure::GuestReach;
using support::EnvironmentVariable;
using support::Error;

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
  request.agents_path = work.AgentsPath();
  // These make a shell, Node.js or git read files of the caller's directory.
  request.environment = support::Changed(
      support::OwnEnvironment(), "BASH_ENV ENV GIT_* INIT_CWD NODE_OPTIONS NODE_PATH OLDPWD PWD");
  // Lima's files may name it.
  const std::string temporary = support::Value(request.environment, "TMPDIR");
  run::DropNamedFiles(reach, request.environment);
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
  const copy::Choice choice = ReadChoice(parsed);
  const copy::SendOptions send = ReadSendOptions(parsed);
  const ServeOptions serve = ReadServeOptions(parsed, instance);
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() == "mcp") agents::AddGuestServer(option.value(), request);
  }
  std::vector<std::string> ports;
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() == "port") ports.push_back(option.value());
  }
  (void)connection::Ports(ReadPorts(ports));
  (void)copy::FindProject();
  const std::string search_path = EnvironmentVariable("PATH");
  (void)run::FindAgentProgram(agent, search_path, GuestReach());

  // The work, which takes out of PATH what the guest can write, and the agent's request for it.
  const Instance loaded = LoadInstance(instance, true, !choice.directory.empty());
  const std::unique_ptr<copy::Work> work = copy::FindWork(loaded, choice);
  if (!work->HasRoots() && parsed.count("root") > 0) {
    throw Error("--root is for mounted projects; in a copy there is nothing else");
  }
  if (work->HasRoots() && parsed.count("setup") + parsed.count("include") > 0) {
    throw Error(
        "--setup and --include are for a copy; on a mount, the agent works in the project itself");
  }
  RequireInstance(serve);
  FillRequest(agent, parsed, serve, loaded.reach, *work, request);
  const std::string denials = request.settings_directory + "/denials";
  if (loaded.configuration.closed()) {
    fs::remove(denials);
    request.server_environment[network::kDenialsVariable] = denials;
  }
  if (parsed.count("mcp") > 0) request.guest_shell = GuestShell(loaded, *work);

  // Ways for the guest to get out. Then the version of the agent's own program.
  RequireUtf8(request.server);
  RequireUtf8({request.project, request.settings_directory});
  run::RequireOutOfReach(agent, request, loaded);
  const std::string top = copy::FindRepository(request.project).value_or(request.project);
  if (work->HasRoots()) run::RequireNarrowMounts(loaded, top);
  run::CheckInstance(loaded, top, request.environment);
  const fs::path program = run::FindAgentProgram(agent, search_path, loaded.reach);
  const auto check_version = [&] {
    run::RequireVersion(agent, program, request.environment);
    ::_exit(0);
  };
  if (support::RunInForeground(check_version) != 0) return 1;

  // Nothing is sent to a guest that should be closed and is not. The baseline, or the copy, is
  // there before the agent starts.
  run::RequireClosed(loaded.configuration);
  if (const int killed = work->Begin(send)) return killed;
  std::optional<run::PortProcess> opened;
  if (!ports.empty()) opened.emplace(ports, instance);
  if (::isatty(STDERR_FILENO) != 0) {
    std::cerr << support::Format("Starting {} for {} in the Lima instance {}...\n", agent.title,
                                 support::Printable(work->Title()), instance);
  }
  const int exit_code = support::RunInForeground([&] { run::Start(agent, request, program); });
  work->End();
  if (loaded.configuration.closed()) std::cerr << network::DescribeDenials(denials, instance);
  return exit_code;
}

}  // namespace commands
