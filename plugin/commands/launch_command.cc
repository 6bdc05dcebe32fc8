#include "commands/launch_command.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "doctor/installation.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

std::string_view FirstDirectory(std::string_view path) {
  return path.substr(0, path.find(':'));
}

std::string_view WithoutFirstDirectory(std::string_view path) {
  path.remove_prefix(std::min(path.size(), FirstDirectory(path).size() + 1));
  return path;
}

/// The search path without what `limactl` has put before it for its plugin: the directory in which
/// it was found and, where that is another, the one that its links lead to. Rule: UpdatePath in
/// Lima's pkg/plugins/plugins.go.
std::string UsersPath(const fs::path& limactl, std::string_view path) {
  const std::string_view first = FirstDirectory(path);
  path = WithoutFirstDirectory(path);
  std::error_code error;
  const std::string resolved = fs::canonical(limactl, error).parent_path().string();
  if (!error && resolved != first && resolved == FirstDirectory(path)) {
    path = WithoutFirstDirectory(path);
  }
  return std::string(path);
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
  // The name on the search path outlives an upgrade where it is a link.
  const auto named = doctor::FindProgram("limactl-mcp", path);
  return {named && SameFile(*named, own_program) ? fs::absolute(*named).string()
                                                 : fs::canonical(own_program).string(),
          "serve"};
}

}  // namespace commands
