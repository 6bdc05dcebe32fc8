// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/agent.h"
#include "commands/commands.h"
#include "exposure/guest_reach.h"
#include "lima/configuration.h"
#include "lima/mounts.h"

/// Instances, agents and projects, for several commands.
namespace commands {

/// The agent of that name, or of that program; with `can_run`, of those that `run` can start.
/// Throws Error, which lists them.
const agents::Agent& FindAgent(std::string_view word, bool can_run);

/// The current directory, links resolved, unless `project` is given. Throws Error if it is
/// gone, or is `/` or the user's home directory: an agent would get all of it.
std::filesystem::path FindProject(const std::string& home, std::filesystem::path project = {});

/// The nearest directory above with a `.git`, found without git.
std::optional<std::filesystem::path> FindRepository(std::filesystem::path directory);

/// The reason why the agent cannot work on `project` in the instance, and what to do; empty if it
/// can. `project` is absolute, without links; empty for several projects.
std::string NoteOnInstance(const std::string& instance, const std::string& project);

/// The reach of the instance's guest; empty if Lima's files cannot be used.
exposure::GuestReach ReachOf(const std::string& instance);

/// Removes directories that the guest can write from PATH.
void UseSafeSearchPath(const exposure::GuestReach& reach);

/// The same, for limactl and the programs that it starts. Throws if limactl lies in the guest's
/// reach.
void UseSafeSearchPath(const std::string& instance);

/// Throws Error if one of the words is not UTF-8, which settings must be.
void RequireUtf8(const std::vector<std::string>& words);

/// How long an agent waits for a result: longer than a command may run.
std::chrono::seconds CallTimeout(std::chrono::milliseconds command_timeout);

std::vector<std::string> ToolNames();

/// The answer to a question that ends with "[Y/n] " or "[y/N] ". Nothing without a terminal.
std::optional<bool> AskUser(const std::string& question, bool by_default);

/// An instance, and the directories of the host that its guest can write.
struct Instance {
  lima::InstanceConfiguration configuration;
  std::vector<lima::Mount> mounts;
  exposure::GuestReach reach;

  /// Throws support::Error if the guest can write the file.
  void RequireOutOfReach(const std::filesystem::path& file) const;
};

/// Throws support::Error if there is none. "agent" is created without mounts: the error for a
/// missing one has the command, and with `offers`, on a terminal, the user is asked.
Instance LoadInstance(const std::string& name, bool offers = false, bool mountless = false);

/// Whether it is stopped; else it runs. Throws support::Error if it stays broken for
/// RetryTimes::broken: it looks so while it starts.
bool IsStopped(const lima::InstanceConfiguration& configuration);

/// Says so on standard error. Throws support::Error.
void StartInstance(const lima::InstanceConfiguration& configuration);

}  // namespace commands
