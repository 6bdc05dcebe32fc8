// SPDX-License-Identifier: Apache-2.0
#include "commands/project.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <system_error>

#include "commands/option_parser.h"
#include "connection/instance_opener.h"
#include "connection/shared_connection.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "lima/sandbox.h"
#include "paths/roots.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/join.h"
#include "support/utf8.h"
#include "support/words.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

using support::Format;

/// On a terminal, asks whether to create "agent" if there is none.
void OfferInstance(const std::filesystem::path& lima_home, const std::string& name) {
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(lima_home / name / "lima.yaml", unknown);
  if (name != kAgentInstance || is_there || unknown) return;
  const auto is_wanted =
      AskUser(Format("There is no Lima instance \"{}\" in {}, a virtual machine for agents that "
                     "mounts nothing of this host.\nCreate it now? [Y/n] ",
                     name, lima_home.string()),
              true);
  if (!is_wanted) return;
  if (!*is_wanted) throw support::Error("nothing was created");
  UseSafeSearchPath(name);
  const std::vector<std::string> command = lima::MountlessSandboxCommand(name);
  if (support::RunInForeground([&] { support::Become(command); }) == 0) return;
  throw support::Error("`{}` failed", shell::ShellCommand(command));
}

}  // namespace

const agents::Agent& FindAgent(std::string_view word, bool can_run) {
  for (const agents::Agent& agent : agents::Agents()) {
    const auto programs = support::Words(agent.programs);
    if (agent.name != word && std::ranges::find(programs, word) == programs.end()) continue;
    if (!can_run || agent.run) return agent;
    throw support::Error("{} is an editor, which `run` cannot start; see: limactl mcp configure {}",
                         agent.title, agent.name);
  }
  throw support::Error(
      "{} There are: {}; name one of them",
      word.empty() ? "which agent?"
                   : UnknownText("agent", std::string(word), OfferedWords(Offers::kAgents)),
      support::Join(OfferedWords(can_run ? Offers::kAgentsOfRun : Offers::kAgents)));
}

std::filesystem::path FindProject(const std::string& home, std::filesystem::path project) {
  std::error_code error;
  if (project.empty()) project = std::filesystem::current_path(error);
  if (error) throw support::Error("the current directory is gone; change to your project");
  const bool is_home = std::filesystem::equivalent(project, home, error);
  if (is_home || project == project.root_path()) {
    throw support::Error("{} {}; run this inside a project", project.string(),
                         is_home ? "is your home directory" : "is the root directory");
  }
  return project;
}

std::optional<std::filesystem::path> FindRepository(std::filesystem::path directory) {
  std::error_code unknown;
  while (!std::filesystem::exists(std::filesystem::symlink_status(directory / ".git", unknown))) {
    if (directory == directory.root_path()) return std::nullopt;
    directory = directory.parent_path();
  }
  return directory;
}

std::string NoteOnInstance(const std::string& instance, const std::string& project) try {
  if (project.empty()) {
    lima::RequireInstance(lima::HomeDirectory(), instance);
    return "";
  }
  const Instance loaded = LoadInstance(instance);
  const auto mounts = paths::RootsOfMounts(loaded.mounts);
  const std::string text = Format("the instance \"{}\" ", instance);
  if (const auto mount = paths::IndexByHostPath(mounts).Find(project)) {
    const paths::Root& found = mounts[mount->value];
    if (found.writable) return "";
    return Format("{}mounts {} read-only: the agent can change nothing there.", text, found.host);
  }
  if (loaded.configuration.plain) {
    return Format("{}mounts nothing, since its configuration has plain: true; change that: {}",
                  text, lima::EditCommands(instance));
  }
  const std::string mount =
      lima::EditCommands(instance, " --mount-only " + shell::ShellQuote(project + ":w"));
  return Format("{}does not mount {}, so every call would be refused. {}", text, project,
                instance == kAgentInstance ? Format("Work in a copy: limactl mcp copy {}, "
                                                    "which prints the command of the server for it",
                                                    instance)
                                           : Format("Mount it: {}", mount));
} catch (const support::Error& error) {
  return error.what();
}

exposure::GuestReach ReachOf(const std::string& instance) {
  try {
    const auto configuration = lima::LoadConfiguration(lima::HomeDirectory(), instance);
    return exposure::GuestReach(lima::ListMounts(configuration));
  } catch (const lima::ConfigurationError&) {
    return {};
  }
}

void UseSafeSearchPath(const exposure::GuestReach& reach) {
  ::setenv("PATH", reach.SafeSearchPath(support::EnvironmentVariable("PATH")).c_str(), 1);
}

void UseSafeSearchPath(const std::string& instance) {
  const exposure::GuestReach reach = ReachOf(instance);
  (void)reach.FindProgram("limactl", support::EnvironmentVariable("PATH"));
  UseSafeSearchPath(reach);
}

void RequireUtf8(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (support::IsValidUtf8(word)) continue;
    throw support::Error("{} is not UTF-8, which the settings of agents must be; rename it", word);
  }
}

std::chrono::seconds CallTimeout(std::chrono::milliseconds command_timeout) {
  constexpr std::chrono::seconds kLonger = std::chrono::minutes(2);
  constexpr std::chrono::seconds kNoLimit = std::chrono::hours(24);
  if (command_timeout == std::chrono::milliseconds::zero()) return kNoLimit;
  return std::chrono::duration_cast<std::chrono::seconds>(command_timeout) + kLonger;
}

std::vector<std::string> ToolNames() {
  std::vector<std::string> names;
  for (const mcp::ToolDefinition& tool : tools::Definitions()) names.push_back(tool.name);
  return names;
}

std::optional<bool> AskUser(const std::string& question, bool by_default) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return std::nullopt;
  std::cerr << question << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) return false;
  if (answer.empty()) return by_default;
  return answer == "y" || answer == "Y" || answer == "yes";
}

void Instance::RequireOutOfReach(const std::filesystem::path& file) const {
  const auto mount = reach.MountHolding(file);
  if (!mount) return;
  throw support::Error("the guest can write {}, which holds {}; use an instance without that mount",
                       *mount, file.string());
}

Instance LoadInstance(const std::string& name, bool offers, bool mountless) {
  const auto lima_home = lima::HomeDirectory();
  if (offers) OfferInstance(lima_home, name);
  lima::RequireInstance(lima_home, name, mountless);
  Instance instance{lima::LoadConfiguration(lima_home, name), {}, {}};
  instance.mounts = lima::ListMounts(instance.configuration);
  instance.reach = exposure::GuestReach(instance.mounts);
  return instance;
}

bool IsStopped(const lima::InstanceConfiguration& configuration) {
  constexpr std::chrono::milliseconds kPause{100};
  const auto give_up = support::Clock::now() + connection::RetryTimes().broken;
  while (true) {
    try {
      connection::RequireRunning(configuration);
      return false;
    } catch (const connection::InstanceNotRunning& problem) {
      if (problem.state() == lima::State::kStopped) return true;
      if (support::Clock::now() >= give_up) throw;
    }
    support::Pause(kPause, {});
  }
}

void StartInstance(const lima::InstanceConfiguration& configuration) {
  UseSafeSearchPath(configuration.name);
  connection::StartInstance(configuration.name, {}, [](const std::string& text) {
    std::cerr << Format("{}, which may take a minute...\n", text);
  });
}

}  // namespace commands
