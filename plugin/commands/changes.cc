#include <filesystem>
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/mounted_project.h"
#include "copy/side_repository.h"
#include "lima/home.h"

namespace commands {

int Changes(const std::vector<std::string>& arguments) {
  const auto parsed = Parse("changes", arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const auto mounted = FindMountedProject(instance);
  if (!mounted) {
    const auto directory = lima::HomeDirectory() / instance;
    const bool is_copied =
        copy::SidePlace::Find(directory, std::filesystem::current_path()).has_value();
    throw support::CallError(
        "the instance \"" + instance + "\" does not mount this project: " +
        (is_copied ? "limactl mcp diff " + instance + " shows its copy"
                   : "limactl mcp run AGENT " + instance + " works in a copy of it"));
  }
  if ((*parsed)["accept"].as<bool>()) {
    mounted->Accept();
    return 0;
  }
  return mounted->PrintChanges(std::cout) ? 1 : 0;
}

}  // namespace commands
