#include "doctor/instance_checks.h"

#include <set>
#include <system_error>

#include "agents/agent.h"
#include "configure/stored_settings.h"
#include "lima/sandbox.h"
#include "lima/status.h"
#include "lima/text_file.h"
#include "support/join.h"
#include "support/paths.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using lima::InstanceConfiguration;
using support::Join;

bool HoldsOurs(const configure::SettingsFile& settings, const fs::path& path) {
  try {
    return configure::HasOurs(settings, lima::ReadTextFile(path, configure::kMaxSettingsBytes));
  } catch (const support::CallError&) {
    return false;  // the agent cannot read it either
  }
}

/// The settings of `agent` in `directory` that start the server or confine the agent.
std::vector<std::string> FindSettings(const agents::Agent& agent,
                                      const agents::SettingsRequest& request,
                                      const std::string& directory) {
  std::vector<std::string> found;
  for (const configure::SettingsFile& file : agent.settings(request).files) {
    for (const std::string& name : {file.path, file.alternative}) {
      std::string path = support::JoinPath(directory, name);
      if (!name.empty() && HoldsOurs(file, path)) found.push_back(std::move(path));
    }
  }
  return found;
}

}  // namespace

std::optional<fs::path> ChangedAfterStart(const InstanceConfiguration& configuration) {
  std::error_code missing;
  const auto start = fs::last_write_time(configuration.directory() / "ha.pid", missing);
  if (missing) return std::nullopt;
  const fs::path shared = configuration.lima_home / "_config";
  for (const fs::path& file : {configuration.directory() / "lima.yaml", shared / "default.yaml",
                               shared / "override.yaml"}) {
    const auto change = fs::last_write_time(file, missing);
    if (!missing && change > start) return file;
  }
  return std::nullopt;
}

Finding CheckConfiguration(const InstanceConfiguration& configuration) {
  const std::string text = configuration.os + " guest, login shell " +
                           lima::LoginShell(configuration) +
                           (configuration.vm_type ? ", " + *configuration.vm_type : "");
  const auto changed = ChangedAfterStart(configuration);
  if (!changed) return Passed(text);
  return Warning(text + "; " + changed->string() + " was changed after the instance started",
                 lima::RestartCommand(configuration.name));
}

Finding CheckStatus(const InstanceConfiguration& configuration) {
  const lima::Status status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  if (status.state == lima::State::kRunning) return Passed("running");
  if (status.state == lima::State::kStopped) {
    return Failed("stopped", "limactl start " + configuration.name);
  }
  return Failed("broken: " + status.reason, "unless it is starting or stopping: " +
                                                lima::ForcedRestartCommand(configuration.name));
}

Finding CheckMounts(const InstanceConfiguration& configuration,
                    const std::vector<lima::Mount>& mounts) {
  const std::string edit = lima::EditCommands(configuration.name);
  if (configuration.plain) {
    return Warning("plain: true in the configuration: the instance mounts nothing",
                   "remove that: " + edit);
  }
  if (mounts.empty()) {
    return Warning(
        "the instance mounts nothing: the agent's file tools can use no directory",
        "mount the project: " + lima::EditCommands(configuration.name, " --mount-only \"$PWD:w\""));
  }
  std::vector<std::string> list;
  std::vector<std::string> missing;
  std::vector<std::string> stale;
  for (const lima::Mount& mount : mounts) {
    const bool is_elsewhere = mount.mount_point != mount.location;
    list.push_back(mount.location + (mount.writable ? " (writable)" : " (read-only)") +
                   (is_elsewhere ? " at " + mount.mount_point : ""));
    std::error_code unknown;
    if (!fs::is_directory(mount.location, unknown)) missing.push_back(mount.location);
    if (mount.reads_may_be_stale) stale.push_back(mount.location);
  }
  if (!missing.empty()) {
    return Failed(Join(list) + "; no directory on this host: " + Join(missing),
                  "create it, or change the mounts: " + edit);
  }
  if (!stale.empty()) {
    return Warning(
        Join(list) + "; may be stale in the guest (9p with cache fscache): " + Join(stale),
        "set 9p: {cache: mmap} at these mounts: " + edit);
  }
  return Passed(Join(list));
}

Finding CheckSettings(const std::vector<lima::Mount>& mounts, const std::string& project,
                      const std::string& instance) {
  std::set<std::string> directories;
  for (const lima::Mount& mount : mounts) {
    if (!mount.writable) continue;
    directories.insert(mount.location);
    if (support::PathBelow(project, mount.location)) directories.insert(project);
  }
  agents::SettingsRequest request;
  request.project_files = true;
  request.server = {"limactl", "mcp", "serve", instance};
  std::vector<std::string> found;
  std::string advice;
  for (const std::string& directory : directories) {
    for (const agents::Agent& agent : agents::Agents()) {
      const std::vector<std::string> files = FindSettings(agent, request, directory);
      found.insert(found.end(), files.begin(), files.end());
      if (files.empty() || !advice.empty()) continue;
      advice = agent.run
                   ? "start it with: limactl mcp run " + std::string(agent.name) + " " + instance
                   : "review changes of these files before you start the agent";
    }
  }
  if (found.empty()) return Passed("no writable mount has settings that configure wrote");
  return Warning("a command in the guest can change what confines the agent: " + Join(found),
                 advice);
}

Finding CheckSshConfig(const InstanceConfiguration& configuration,
                       const lima::SshEndpoint& endpoint) {
  int port = 0;
  try {
    port = lima::QueryHostAgent(configuration.directory() / "ha.sock");
  } catch (const support::CallError& error) {
    return Failed(error.what(), lima::ForcedRestartCommand(configuration.name));
  }
  if (port == 0) {
    return Warning("the host agent does not know its SSH port yet",
                   "wait until the instance has started: limactl list");
  }
  if (port != endpoint.port) {
    return Failed("ssh.config has port " + std::to_string(endpoint.port) +
                      ", the host agent port " + std::to_string(port) +
                      ": the former may belong to another instance",
                  lima::RestartCommand(configuration.name) + ", which rewrites ssh.config");
  }
  return Passed(endpoint.user + " at " + endpoint.host + " port " + std::to_string(endpoint.port));
}

}  // namespace doctor
