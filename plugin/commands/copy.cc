// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "commands/commands.h"
#include "commands/project.h"
#include "copy/setup.h"
#include "shell/shell_quote.h"

namespace commands {

int Copy(const Parsed& parsed) {
  const copy::Choice choice = ReadChoice(parsed);
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  const copy::PreparedCopy copy = copy::PrepareCopy(instance, choice, ReadSendOptions(parsed));
  if (copy.setup_status < copy::kKilled) {
    std::cout << "limactl mcp serve " << instance.configuration.name << " --copy "
              << shell::ShellQuote(copy.project)
              << (choice.name.empty() ? "" : " --name " + choice.name) << '\n';
  }
  return copy.setup_status;
}

}  // namespace commands
