#include "commands/commands.h"

#include <array>
#include <exception>
#include <iostream>
#include <string_view>

#include "support/log.h"
#include "support/version.h"

namespace commands {
namespace {

struct Entry {
  std::string_view name;
  std::string_view summary;  ///< empty: hidden from the help
  int (*run)(const std::vector<std::string>& arguments);
};

/// Every command, in the order of the help.
constexpr std::array<Entry, 4> kCommands = {{
    {"serve", "Serve MCP over standard input and output for an instance (default: \"default\")",
     &Serve},
    {"info", "Print the tools as JSON", &Info},
    {"doctor", "Check everything between an agent and an instance, and say what to do", &Doctor},
    {"generate-doc", "", &GenerateDoc},
}};

void PrintHelp() {
  std::cout << "Hands a Lima virtual machine to an AI agent, as an MCP server.\n\n"
               "Usage:\n"
               "  limactl mcp COMMAND [OPTIONS]\n\n"
               "Commands:\n";
  for (const Entry& command : kCommands) {
    if (command.summary.empty()) continue;
    std::cout << "  " << command.name << std::string(10 - command.name.size(), ' ')
              << command.summary << '\n';
  }
  std::cout << "\nOptions:\n"
               "  -h, --help     Print help; 'limactl mcp COMMAND --help' for one command\n"
               "  -v, --version  Print the version\n";
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
  for (const Entry& command : kCommands) {
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
