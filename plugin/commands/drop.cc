// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <vector>

#include "commands/commands.h"
#include "commands/project.h"
#include "copy/copy.h"
#include "support/errors.h"
#include "support/log.h"

namespace commands {
namespace {

enum class What { kDrop, kPurge, kUndo };

void DropOne(const Instance& instance, const copy::Choice& choice, What what, bool force) {
  copy::Copy copy(instance, choice, what == What::kDrop ? "drop" : "drop --undo");
  try {
    copy.FollowProject();
  } catch (const support::Error&) {
    // The project was deleted: nothing on this host has its commits.
  }
  std::cout << (what == What::kUndo    ? copy::UndoDrop(copy)
                : what == What::kPurge ? copy::Purge(copy, force)
                                       : copy::Drop(copy, force))
            << '\n';
}

}  // namespace

int Drop(const Parsed& parsed) {
  const bool force = parsed["force"].as<bool>();
  const bool all = parsed["all"].as<bool>();
  const What what = parsed["undo"].as<bool>()    ? What::kUndo
                    : parsed["purge"].as<bool>() ? What::kPurge
                                                 : What::kDrop;
  if (what == What::kUndo && (parsed["purge"].as<bool>() || force || all))
    throw support::Error("--undo excludes --all, --force and --purge");
  copy::Choice choice = ReadChoice(parsed);
  if (all && !choice.name.empty()) throw support::Error("--all and --name exclude each other");
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  const std::vector<std::string> names =
      all ? copy::ListNames(instance, choice) : std::vector<std::string>();
  if (names.empty()) {
    DropOne(instance, choice, what, force);
    return 0;
  }
  int exit_code = 0;
  for (const std::string& name : names) {
    choice.name = name;
    try {
      DropOne(instance, choice, what, force);
    } catch (const support::Error& error) {
      support::LogError(error.what());
      exit_code = 1;
    }
  }
  return exit_code;
}

}  // namespace commands
