#include <csignal>
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/work.h"

namespace commands {

int Changes(const std::vector<std::string>& arguments) {
  OptionParser parser("changes",
                      "Print what programs of this host run or obey that was changed in a mounted "
                      "project since its baseline, or in a copy since it was sent; the exit status "
                      "is 1 if there is something, 2 after an error",
                      "[INSTANCE]", 1);
  parser.AddOptions()("accept", "Make the project as it is the baseline");
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const Instance instance = LoadInstance(CopyInstance(*parsed));
  instance.RequireOutOfReach(instance.configuration.directory());
  const auto work = FindWork(instance);
  if (!(*parsed)["accept"].as<bool>()) return work->PrintChanges(std::cout) ? 1 : 0;
  work->Accept();
  return 0;
}

}  // namespace commands
