// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "copy/copy.h"

namespace commands {

int Drop(const Parsed& parsed) {
  CopyCommand command(parsed.Positional(0, kAgentInstance), parsed["project"].as<std::string>(), "",
                      "drop");
  try {
    command.FollowProject();
  } catch (const support::Error&) {
    // The project was deleted: nothing on this host has its commits.
  }
  for (const std::string& line : copy::Drop(command.OpenTarget(), parsed["force"].as<bool>())) {
    std::cerr << line << '\n';
  }
  std::cout << "Dropped.\n";
  return 0;
}

}  // namespace commands
