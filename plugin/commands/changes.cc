// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/work.h"

namespace commands {

int Changes(const std::vector<std::string>& arguments) {
  const auto parsed = Parse("changes", arguments);
  if (!parsed) return 0;
  const Instance instance = LoadInstance(CopyInstance(*parsed));
  instance.RequireOutOfReach(instance.configuration.directory());
  const auto work = FindWork(instance);
  if (!(*parsed)["accept"].as<bool>()) return work->PrintChanges(std::cout) ? 1 : 0;
  work->Accept();
  return 0;
}

}  // namespace commands
