// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"
#include "commands/project.h"
#include "copy/checkpoints.h"

namespace commands {

int Log(const Parsed& parsed) {
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  const copy::Choice choice = ReadChoice(parsed);
  if (parsed["follow"].as<bool>()) {
    copy::FollowLog(instance, choice);
    return 0;
  }
  copy::Copy copy(instance, choice, "undo");
  copy::PrintLog(copy);
  return 0;
}

}  // namespace commands
