#include "doctor/settings_check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "configure/agents.h"
#include "configure/settings_error.h"
#include "support/join.h"
#include "support/paths.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> ReadText(const fs::path& path) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// False also for a file that no agent could read.
bool HoldsServer(const configure::SettingsFile& file, const fs::path& path) {
  try {
    return configure::HasEntry(file, ReadText(path));
  } catch (const configure::SettingsError&) {
    return false;
  }
}

std::set<std::string> WritableDirectories(const std::vector<lima::MountLocation>& mounts,
                                          const std::string& project) {
  std::set<std::string> directories;
  for (const lima::MountLocation& mount : mounts) {
    if (!mount.writable) continue;
    directories.insert(mount.location);
    if (support::PathBelow(project, mount.location)) directories.insert(project);
  }
  return directories;
}

}  // namespace

Finding CheckSettings(const std::vector<lima::MountLocation>& mounts, const std::string& project,
                      const std::string& instance) {
  configure::Request request;
  request.instance = instance;
  request.project_files = true;
  request.launch = {"limactl", "mcp", "serve"};
  std::vector<std::string> found;
  std::string advice;
  for (const std::string& directory : WritableDirectories(mounts, project)) {
    for (const configure::Agent& agent : configure::Agents()) {
      for (const configure::SettingsFile& file : agent.files(request)) {
        std::vector<std::string> names = file.alternatives;
        names.push_back(file.path);
        for (const std::string& name : names) {
          const std::string path = support::JoinPath(directory, name);
          if (!HoldsServer(file, path)) continue;
          found.push_back(path);
          if (advice.empty()) {
            advice = agent.can_run ? "start it with: limactl mcp run " + std::string(agent.name) +
                                         " " + instance
                                   : "look at changes of these files before you start the agent";
          }
        }
      }
    }
  }
  if (found.empty()) return Passed("no writable mount holds settings that configure wrote");
  return Warning(
      "a command in the guest can change what confines the agent: " + support::Join(found), advice);
}

}  // namespace doctor
