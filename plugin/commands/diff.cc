// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "commands/commands.h"
#include "commands/project.h"
#include "copy/checkpoints.h"
#include "copy/work.h"

namespace commands {

int Diff(const Parsed& parsed) {
  const std::string instance = parsed.Positional(0, kAgentInstance);
  const std::uint64_t max_size = ReadMaxSize(parsed);
  const bool only_names = parsed["stat"].as<bool>();
  const copy::Choice choice = ReadChoice(parsed);
  const Instance loaded = LoadInstance(instance);
  loaded.RequireOutOfReach(loaded.configuration.directory());
  if (parsed.count("since") > 0) {
    copy::Copy copy(loaded, choice, "undo");
    copy::PrintDiffSince(copy, parsed["since"].as<std::string>(), only_names, max_size);
    return 0;
  }
  (void)::signal(SIGPIPE, SIG_IGN);  // a pager that stops reading is an error of write()
  const auto work =
      choice.project.empty() ? copy::FindWork(loaded, choice) : copy::WorkInCopy(loaded, choice);
  work->PrintDiff(only_names, max_size);
  return 0;
}

}  // namespace commands
