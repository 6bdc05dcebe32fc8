// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.h"

#include <exception>
#include <iostream>

#include "commands/command_table.h"
#include "commands/documents/documents.h"
#include "commands/option_parser.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/version.h"

namespace commands {
namespace {

int Dispatch(const std::vector<std::string>& arguments) {
  const bool help = !arguments.empty() && arguments[0] == "help";
  if (help && arguments.size() > 1) return Dispatch({arguments[1], "--help"});
  if (help || arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    std::cout << ProgramHelp();
    return 0;
  }
  if (arguments[0] == "-v" || arguments[0] == "--version") {
    std::cout << "limactl-mcp version " << support::Version() << '\n';
    return 0;
  }
  if (arguments[0] == "__complete") return Complete({arguments.begin() + 1, arguments.end()});
  if (const Command* command = FindCommand(arguments[0])) {
    const auto parsed = Parse(*command, {arguments.begin() + 1, arguments.end()});
    return parsed ? command->run(*parsed) : 0;
  }
  std::vector<std::string> known = {"help", "--help", "--version"};
  for (const Command& command : Commands()) known.emplace_back(command.name);
  throw support::Error(
      "{} 'limactl mcp --help' lists the commands and options",
      UnknownText(arguments[0].starts_with('-') ? "option" : "command", arguments[0], known));
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  // 1 means that something was changed, as with diff.
  const int failure = !arguments.empty() && arguments[0] == "changes" ? 2 : 1;
  try {
    const int exit_code = Dispatch(arguments);
    std::cout.flush();
    if (!std::cout) {
      support::LogError("cannot write to standard output");
      return failure;
    }
    return exit_code;
  } catch (const std::exception& error) {
    support::LogError(error.what());
    return failure;
  }
}

}  // namespace commands
