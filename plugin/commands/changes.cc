// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/project.h"
#include "copy/work.h"

namespace commands {

int Changes(const Parsed& parsed) {
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance));
  instance.RequireOutOfReach(instance.configuration.directory());
  const auto work = copy::FindWork(instance);
  if (!parsed["accept"].as<bool>()) return work->PrintChanges(std::cout) ? 1 : 0;
  work->Accept();
  return 0;
}

}  // namespace commands
