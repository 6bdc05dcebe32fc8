// SPDX-License-Identifier: Apache-2.0
#include "copy/copy.h"

#include <iostream>

#include "commands/commands.h"
#include "commands/project.h"
#include "shell/shell_quote.h"

namespace commands {

int Copy(const Parsed& parsed) {
  const Instance instance = LoadInstance(parsed.Positional(0, kAgentInstance), false, true);
  copy::Copy copy(instance, "", ReadCopyDirectory(parsed));
  copy::Send(copy).Print(std::cerr);
  std::cout << "limactl mcp serve " << instance.configuration.name << " --copy "
            << shell::ShellQuote(copy.project()) << '\n';
  return 0;
}

}  // namespace commands
