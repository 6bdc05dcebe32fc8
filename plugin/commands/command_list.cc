#include "commands/command_list.h"

#include <array>

#include "commands/commands.h"

namespace commands {

std::span<const Command> CommandList() {
  static constexpr std::array<Command, 6> kCommands = {{
      {"serve", "Serve MCP over standard input and output for an instance (default: \"default\")",
       &ServeParser, &Serve},
      {"run", "Start an agent that can only use the tools of an instance", &RunParser, &RunAgent},
      {"configure", "Let an agent find the server, and switch off its own file and shell tools",
       &ConfigureParser, &Configure},
      {"info", "Print the tools as JSON", &InfoParser, &Info},
      {"doctor", "Check everything between an agent and an instance, and say what to do",
       &DoctorParser, &Doctor},
      {"generate-doc", "", &GenerateDocParser, &GenerateDoc},
  }};
  return kCommands;
}

std::vector<OptionDescription> ProgramOptions() {
  return {{"h", "help", "Print help; 'limactl mcp COMMAND --help' for one command", "", ""},
          {"v", "version", "Print the version", "", ""}};
}

}  // namespace commands
