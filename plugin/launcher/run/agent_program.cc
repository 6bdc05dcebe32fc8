// SPDX-License-Identifier: Apache-2.0
#include "run/agent_program.h"

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "agents/own_servers.h"
#include "support/child.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/join.h"
#include "support/program.h"

namespace run {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using support::Error;

/// Agents read thousands of files before they print their version.
constexpr std::chrono::seconds kQueryTimeout{30};

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

}  // namespace

fs::path FindAgentProgram(const Agent& agent, const std::string& path,
                          const exposure::GuestReach& reach) {
  const auto program = reach.FindProgram(std::string(agent.name), path);
  if (program) return *program;
  throw Error(
      "{} is not installed: no program \"{}\" on PATH outside the project. Install it: "
      "npm install -g {}",
      agent.title, agent.name, agent.run->package);
}

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

void Start(const Agent& agent, const agents::LaunchRequest& request, const fs::path& program) {
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

}  // namespace run
