#include "commands/run_checks.h"

#include <set>
#include <system_error>
#include <utility>

#include "doctor/exposure.h"
#include "doctor/instance_checks.h"
#include "lima/sandbox.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/log.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using paths::GuestReach;
using support::CallError;

/// How deep settings can lie in an agent's directory.
constexpr int kSettingsDepth = 3;

/// The links in `directory` that lead into the guest's reach. Follows none of them.
std::vector<std::string> LinksInto(const GuestReach& reach, const fs::path& directory, int depth) {
  std::vector<std::string> links;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() + 1 >= depth) entry.disable_recursion_pending();
    std::error_code gone;
    if (entry->is_symlink(gone) && reach.Above(entry->path())) links.push_back(entry->path());
  }
  return links;
}

void WarnOfLinks(const std::string& home, const GuestReach& reach) {
  std::vector<std::string> all;
  for (const char* name : {"", ".config", ".local/bin", "bin"}) {
    for (std::string& link : LinksInto(reach, fs::path(home) / name, 1)) {
      all.push_back(std::move(link));
    }
  }
  if (all.empty()) return;
  support::LogWarning("the guest can change what programs of the host read through " +
                      support::Join(all));
}

}  // namespace

void CheckInstance(const lima::InstanceConfiguration& configuration,
                   const std::vector<lima::Mount>& mounts, const std::string& project,
                   const agents::Environment& environment) {
  if (const auto file = doctor::ChangedAfterStart(configuration)) {
    throw CallError(file->string() +
                    " was changed after the instance started, so the mounts may be others. "
                    "Restart it: " +
                    doctor::RestartCommand(configuration.name));
  }
  const doctor::Exposure exposure =
      doctor::FindExposure(configuration, mounts, project, environment);
  if (!exposure.escape.empty()) throw CallError(exposure.escape);
  if (exposure.rest.empty()) return;
  support::LogWarning(support::Join(exposure.rest, "; ") +
                      ". An instance for the project alone: " + lima::SandboxCommand("sandbox"));
}

void RequireOutOfReach(const agents::Agent& agent, const agents::LaunchRequest& request,
                       const lima::InstanceConfiguration& configuration, const GuestReach& reach) {
  std::vector<std::pair<std::string, std::string>> files = {
      {request.directory, "the settings of this session"},
      {request.home, "the settings of this session"},
      {request.control, "the settings of this session"},
      {request.server.front(), "this program"},
      {configuration.lima_home, "Lima's configuration"}};
  const auto add_links = [&](const fs::path& directory, int depth, const std::string& what) {
    for (std::string& link : LinksInto(reach, directory, depth)) {
      files.emplace_back(std::move(link), what);
    }
  };
  add_links(configuration.lima_home / "_config", 1, "Lima's configuration");
  add_links(configuration.directory(), 1, "Lima's configuration");
  for (std::string& settings : agent.run->own_settings(request.environment)) {
    const std::string what = "your settings of " + std::string(agent.title);
    add_links(settings, kSettingsDepth, what);
    files.emplace_back(std::move(settings), what);
  }
  for (const auto& [path, what] : files) {
    const auto mount = reach.Touching(path);
    if (!mount) continue;
    const std::string text = "the guest could change " + what + " (" + path + ")";
    if (fs::is_symlink(path)) {
      throw CallError(text + ", a link into " + *mount +
                      ", which the guest can write. Replace the link by a copy of its target");
    }
    throw CallError(text + ", since the instance mounts " + *mount +
                    " writable. Use an instance that mounts only the project: " +
                    lima::SandboxCommand("sandbox"));
  }
  WarnOfLinks(agents::Value(request.environment, "HOME"), reach);
}

void DropNamedFiles(const GuestReach& reach, agents::Environment& environment) {
  const std::set<std::string> judged = {"HOME", "LIMA_HOME", "PATH"};
  const std::string home = agents::Value(environment, "HOME");
  std::vector<std::string> dropped;
  for (const auto& [name, value] : environment) {
    const std::string text = value.starts_with("~/") ? home + value.substr(1) : value;
    if (!judged.contains(name) && reach.IsNamedIn(text)) dropped.push_back(name);
  }
  if (dropped.empty()) return;
  for (const std::string& name : dropped) environment.erase(name);
  support::LogWarning("left out, since they name files that the guest can write: " +
                      support::Join(dropped));
}

}  // namespace commands
