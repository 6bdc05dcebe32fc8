#include "commands/commands.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <string_view>

#include "commands/command_list.h"
#include "support/log.h"
#include "support/version.h"

namespace commands {
namespace {

/// How wide the column of the commands' names is.
std::size_t NameWidth() {
  std::size_t width = 0;
  for (const Command& command : CommandList()) {
    if (!command.summary.empty()) width = std::max(width, command.name.size());
  }
  return width + 2;
}

void PrintHelp() {
  std::cout << "Hands a Lima virtual machine to an AI agent, as an MCP server.\n\n"
               "Usage:\n"
               "  limactl mcp COMMAND [OPTIONS]\n\n"
               "Commands:\n";
  for (const Command& command : CommandList()) {
    if (command.summary.empty()) continue;
    std::cout << "  " << command.name << std::string(NameWidth() - command.name.size(), ' ')
              << command.summary << '\n';
  }
  std::cout << "\nOptions:\n";
  for (const OptionDescription& option : ProgramOptions()) {
    std::cout << "  -" << option.letter << ", --" << option.name
              << std::string(NameWidth() - option.name.size(), ' ') << option.text << '\n';
  }
}

int Dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    PrintHelp();
    return 0;
  }
  if (arguments[0] == "-v" || arguments[0] == "--version") {
    std::cout << "limactl-mcp version " << support::Version() << '\n';
    return 0;
  }
  for (const Command& command : CommandList()) {
    if (command.name == arguments[0]) return command.run({arguments.begin() + 1, arguments.end()});
  }
  const std::string_view kind = arguments[0].starts_with('-') ? "option" : "command";
  throw UsageError("unknown " + std::string(kind) + " \"" + arguments[0] +
                   "\"; 'limactl mcp --help' lists what there is");
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  try {
    const int exit_code = Dispatch(arguments);
    std::cout.flush();
    if (!std::cout) {
      support::LogError("cannot write to standard output");
      return 1;
    }
    return exit_code;
  } catch (const std::exception& error) {
    support::LogError(error.what());
    return 1;
  }
}

}  // namespace commands
