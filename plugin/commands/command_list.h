#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "commands/option_parser.h"

namespace commands {

/// A command as the command line knows it. The help, the man page and the completions are made of
/// this and of nothing else.
struct Command {
  std::string_view name;
  std::string_view summary;  ///< for the list of commands; empty: hidden from people
  OptionParser (*parser)();  ///< what the command reads its arguments with
  int (*run)(const std::vector<std::string>& arguments);
};

/// Every command, in the order of the help.
std::span<const Command> CommandList();

/// What the program itself takes in place of a command, each with a letter and without a value.
std::vector<OptionDescription> ProgramOptions();

}  // namespace commands
