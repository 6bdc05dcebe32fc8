#include "commands/commands.h"

#include <array>
#include <exception>
#include <iostream>
#include <string_view>

#include "support/log.h"
#include "support/version.h"

namespace commands {
namespace {

constexpr std::string_view kHelp =
    R"(Hands a Lima virtual machine to an AI agent, as an MCP server.

Usage:
  limactl mcp COMMAND [OPTIONS]

Commands:
  serve      Serve MCP over standard input and output for an instance (default: "default")
  run        Start an agent that can only use the tools of an instance (default: "agent")
  copy       Copy the project into an instance, or refresh the copy
  diff       Show what was changed in the copy, or on a mount
  take       Bring that back, as a branch
  drop       Delete the copy
  changes    Print what programs of this host run or obey that was changed on a mount
  configure  Let an agent find the server, and switch off its own file and shell tools
  info       Print the tools as JSON
  doctor     Check everything between an agent and an instance, and print what to do

Options:
  -h, --help     Print help; 'limactl mcp COMMAND --help' for one command
  -v, --version  Print the version
)";

struct Command {
  std::string_view name;
  int (*run)(const std::vector<std::string>& arguments);
};

constexpr std::array<Command, 11> kCommands = {{
    {"serve", &Serve},
    {"run", &RunAgent},
    {"copy", &Copy},
    {"diff", &Diff},
    {"take", &Take},
    {"drop", &Drop},
    {"changes", &Changes},
    {"configure", &Configure},
    {"info", &Info},
    {"doctor", &Doctor},
    {"generate-doc", &GenerateDoc},
}};

int Dispatch(const std::vector<std::string>& arguments) {
  const bool help = !arguments.empty() && arguments[0] == "help";
  if (help && arguments.size() > 1) return Dispatch({arguments[1], "--help"});
  if (help || arguments.empty() || arguments[0] == "-h" || arguments[0] == "--help") {
    std::cout << kHelp;
    return 0;
  }
  if (arguments[0] == "-v" || arguments[0] == "--version") {
    std::cout << "limactl-mcp version " << support::Version() << '\n';
    return 0;
  }
  for (const Command& command : kCommands) {
    if (command.name == arguments[0]) return command.run({arguments.begin() + 1, arguments.end()});
  }
  const std::string_view kind = arguments[0].starts_with('-') ? "option" : "command";
  throw UsageError("unknown " + std::string(kind) + " \"" + arguments[0] +
                   "\"; 'limactl mcp --help' lists the commands and options");
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  // As of diff and grep, 1 says that something was changed.
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
