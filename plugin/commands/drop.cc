// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "copy/copy.h"

namespace commands {

int Drop(const std::vector<std::string>& arguments) {
  const auto parsed = Parse("drop", arguments);
  if (!parsed) return 0;
  CopyCommand command(CopyInstance(*parsed), ReadProjectOption(*parsed), "", "drop");
  try {
    command.FollowProject();
  } catch (const support::Error&) {
    // The project was deleted: nothing on this host has its commits.
  }
  for (const std::string& line : copy::Drop(command.OpenTarget(), (*parsed)["force"].as<bool>())) {
    std::cerr << line << '\n';
  }
  std::cout << "Dropped.\n";
  return 0;
}

}  // namespace commands
