#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/mounted_project.h"

namespace commands {

int Changes(const std::vector<std::string>& arguments) {
  OptionParser parser("changes",
                      "Print what programs of this host run or obey that was changed in a mounted "
                      "project since its baseline; the exit status is 1 if there is something, 2 "
                      "after an error",
                      "[INSTANCE]", 1);
  parser.AddOptions()("accept", "Make the project as it is the baseline");
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  const auto mounted = FindMountedProject(instance);
  if (!mounted) {
    throw support::CallError("the instance \"" + instance +
                             "\" does not mount this project: limactl mcp diff shows its copy");
  }
  if ((*parsed)["accept"].as<bool>()) {
    mounted->Accept();
    return 0;
  }
  return mounted->PrintChanges(std::cout) ? 1 : 0;
}

}  // namespace commands
