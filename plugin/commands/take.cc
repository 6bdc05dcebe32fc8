// SPDX-License-Identifier: Apache-2.0
#include "copy/take.h"

#include <optional>

#include "commands/commands.h"
#include "commands/project.h"
#include "support/errors.h"

namespace commands {

int Take(const Parsed& parsed) {
  const bool apply = parsed["apply"].as<bool>();
  const bool yes = parsed["yes"].as<bool>();
  const bool undo = parsed["undo"].as<bool>();
  const bool force = parsed["force"].as<bool>();
  std::optional<std::string> branch;
  if (parsed.count("branch") > 0) branch = parsed["branch"].as<std::string>();
  if (apply && branch) throw support::Error("--apply and --branch exclude each other");
  if (undo && (apply || branch)) throw support::Error("--undo excludes --apply and --branch");
  if (force && !undo) throw support::Error("--force is for --undo");
  const std::uint64_t max_size = ReadMaxSize(parsed);
  const copy::Choice choice = ReadChoice(parsed);

  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  copy::Copy copy(instance, choice, undo ? "take --undo" : "take");
  if (undo) {
    copy.FollowProject();
    copy::UndoTake(copy, force);
    return 0;
  }
  copy.RequireSent();
  const copy::Ask ask =
      yes ? copy::Ask() : [](const std::string& question) { return AskUser(question, false); };
  if (!apply) return copy::TakeBranches(copy, branch, max_size, ask);
  return copy::TakeFiles(copy, max_size, ask);
}

}  // namespace commands
