// SPDX-License-Identifier: Apache-2.0
#include "run/confinement.h"

#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "agents/own_servers.h"
#include "connection/closed.h"
#include "connection/shared_connection.h"
#include "doctor/exposure.h"
#include "doctor/host_checks.h"
#include "lima/sandbox.h"
#include "paths/names.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/log.h"
#include "support/printable.h"

namespace run {
namespace {

namespace fs = std::filesystem;
using agents::Agent;
using copy::Instance;
using exposure::GuestReach;
using support::Error;

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

}  // namespace

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

void RequireClosed(const lima::InstanceConfiguration& configuration) {
  if (!configuration.closed()) return;
  const auto guest =
      connection::ConnectGuestWithRetries(configuration.lima_home, configuration.name);
  const bool is_another_machine = connection::RequireBooted(configuration, *guest, {});
  const std::string open =
      is_another_machine ? connection::FindOpenWays(configuration, *guest, {}) : "";
  if (!open.empty()) {
    throw Error("the network of {} is not closed: {}. Restart it: {}. Then: limactl mcp doctor {}",
                configuration.name, open, lima::RestartCommand(configuration.name),
                configuration.name);
  }
  std::cerr
      << "Not in the guest, and so not restricted: what the agent sends to its model, and its "
         "own web search and fetch.\n";
}

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

}  // namespace run
