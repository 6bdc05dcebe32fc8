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

}  // namespace

std::vector<std::string> LaunchCommand(const fs::path& own_program, const std::string& path) {
  if (const auto limactl = doctor::FindProgram("limactl", path)) {
    const auto plugins = doctor::FindPlugins(doctor::PluginDirectories(limactl, path));
    if (!plugins.empty() && SameFile(plugins.front(), own_program)) {
      return {"limactl", "mcp", "serve"};
    }
  }
  // The name on the search path outlives an upgrade where it is a link.
  const auto named = doctor::FindProgram("limactl-mcp", path);
  return {named && SameFile(*named, own_program) ? fs::absolute(*named).string()
                                                 : fs::canonical(own_program).string(),
          "serve"};
}

}  // namespace commands
