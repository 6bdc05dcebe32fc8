// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agents/agent.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/printable.h"
#include "support/sha256.h"

namespace agents {
namespace {

namespace fs = std::filesystem;

std::string Digest(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  return support::Sha256(text).substr(0, kDigits);
}

/// Directories that exist keep their mode.
void MakePrivateDirectories(const fs::path& directory) {
  if (fs::exists(directory)) return;
  MakePrivateDirectories(directory.parent_path());
  fs::create_directory(directory);
  fs::permissions(directory, fs::perms::owner_all);
}

}  // namespace

fs::path StateDirectory(const Environment& environment) {
  const std::string home = support::Value(environment, "HOME");
  const std::string state = support::DirectoryOr(environment, "XDG_STATE_HOME",
                                                 home.empty() ? "" : home + "/.local/state");
  if (!state.starts_with('/')) throw support::Error("HOME must be set to your home directory");
  std::string directory = support::CleanPath(state + "/limactl-mcp");
  struct stat status {};
  for (auto* const look : {&::lstat, &::stat}) {
    if (look(directory.c_str(), &status) != 0 || status.st_uid == ::geteuid()) continue;
    throw support::Error(
        "{} belongs to another user, who could change the settings of this session. "
        "Remove it, or set XDG_STATE_HOME to a directory of yours",
        support::Printable(directory));
  }
  return directory;
}

void SetDirectories(const fs::path& state, const Agent& agent, LaunchRequest& request) {
  std::string options;
  for (const std::string& word : request.server) options.append(word).push_back('\0');
  options += request.trust ? "trust" : "";
  for (const OwnServer& server : request.servers) {
    for (const std::string& part : {server.name, server.command, server.entry.dump()}) {
      options.append(part).push_back('\0');
    }
  }
  const bool is_named = request.agents_path != request.project;
  const std::string key = request.project + (is_named ? '\0' + request.agents_path : "");
  const fs::path top = state / "run" / agent.name / Digest(key);
  const fs::path work =
      top / "work" / (agent.run->has_settings_in_directory ? Digest(options) : "");
  request.working_directory = work / support::LastComponent(request.agents_path);
  request.agent_home = top / "home";
  request.settings_directory = top / "options" / Digest(options);
}

void WriteSessionFiles(const LaunchRequest& request, const Launch& launch) {
  for (const std::string& directory :
       {request.working_directory, request.agent_home + "/tmp", request.settings_directory}) {
    MakePrivateDirectories(directory);
  }
  for (const auto& [path, text] : launch.files) {
    MakePrivateDirectories(fs::path(path).parent_path());
    support::WriteText(path, text);
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
  for (const auto& [path, target] : launch.links) {
    MakePrivateDirectories(fs::path(path).parent_path());
    // Another session may use it.
    const bool is_there = fs::is_symlink(path) && fs::read_symlink(path) == target;
    if (is_there || !fs::exists(target)) continue;
    const std::string temporary = path + "." + std::to_string(::getpid());
    fs::remove(temporary);
    fs::create_symlink(target, temporary);
    fs::rename(temporary, path);
  }
}

}  // namespace agents
