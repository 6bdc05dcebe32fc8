#include "commands/launch_command.h"

#include <system_error>

#include "doctor/installation.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// Removes `directory` from the front of a search path.
std::string WithoutFirst(const std::string& path, const std::string& directory) {
  if (path == directory) return "";
  return path.starts_with(directory + ":") ? path.substr(directory.size() + 1) : path;
}

/// The search path without the directories that `limactl` puts before it for its plugin: that of
/// its name and, if different, that of its file. Rule: UpdatePath in Lima's pkg/plugins/plugins.go.
std::string UsersPath(const fs::path& limactl, const std::string& path) {
  const std::string first = path.substr(0, path.find(':'));
  std::error_code error;
  const std::string resolved = fs::canonical(limactl, error).parent_path().string();
  const std::string rest = WithoutFirst(path, first);
  return error || resolved == first ? rest : WithoutFirst(rest, resolved);
}

bool IsOnUsersPath(const fs::path& limactl, const std::string& path, const fs::path& parent) {
  if (!SameFile(limactl, parent)) return true;  // `path` is the user's own
  const auto found = doctor::FindProgram("limactl", UsersPath(limactl, path));
  return found && SameFile(*found, limactl);
}

}  // namespace

std::vector<std::string> LaunchCommand(const fs::path& own_program, const std::string& path,
                                       const fs::path& parent) {
  if (const auto limactl = doctor::FindProgram("limactl", path)) {
    const auto plugins = doctor::FindPlugins(limactl, path);
    if (!plugins.empty() && SameFile(plugins.front(), own_program)) {
      const bool is_named = IsOnUsersPath(*limactl, path, parent);
      return {is_named ? "limactl" : fs::absolute(*limactl).string(), "mcp", "serve"};
    }
  }
  // A link on the search path survives an upgrade.
  const auto named = doctor::FindProgram("limactl-mcp", path);
  return {named && SameFile(*named, own_program) ? fs::absolute(*named).string()
                                                 : fs::canonical(own_program).string(),
          "serve"};
}

}  // namespace commands
