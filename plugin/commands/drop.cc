// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/project.h"
#include "copy/copy.h"
#include "support/errors.h"

namespace commands {

int Drop(const Parsed& parsed) {
  const bool force = parsed["force"].as<bool>();
  const bool purge = parsed["purge"].as<bool>();
  const bool undo = parsed["undo"].as<bool>();
  if (undo && (purge || force)) throw support::Error("--undo excludes --force and --purge");
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  copy::Copy copy(instance, parsed["project"].as<std::string>(), "",
                  undo || purge ? "drop --undo" : "drop");
  try {
    copy.FollowProject();
  } catch (const support::Error&) {
    // The project was deleted: nothing on this host has its commits.
  }
  std::cout << (undo    ? copy::UndoDrop(copy)
                : purge ? copy::Purge(copy, force)
                        : copy::Drop(copy, force))
            << '\n';
  return 0;
}

}  // namespace commands
