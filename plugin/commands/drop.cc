// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "copy/copy.h"
#include "support/errors.h"

namespace commands {

int Drop(const Parsed& parsed) {
  const bool force = parsed["force"].as<bool>();
  const bool purge = parsed["purge"].as<bool>();
  const bool undo = parsed["undo"].as<bool>();
  if (undo && (purge || force)) throw support::Error("--undo excludes --force and --purge");
  CopyCommand command(parsed.Positional(0, kAgentInstance), parsed["project"].as<std::string>(), "",
                      undo || purge ? "drop --undo" : "drop");
  try {
    command.FollowProject();
  } catch (const support::Error&) {
    // The project was deleted: nothing on this host has its commits.
  }
  const copy::Target target = command.OpenTarget();
  std::cout << (undo    ? copy::UndoDrop(target)
                : purge ? copy::Purge(target, force)
                        : copy::Drop(target, force))
            << '\n';
  return 0;
}

}  // namespace commands
