#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/command_list.h"

/// Completions for shells, of both `limactl-mcp …` and `limactl mcp …`, made of the same
/// definitions as the help.
namespace commands {

/// What can be typed for a value.
enum class ValueKind { kText, kInstance, kDirectory, kFile, kChoice };

struct CompletedValue {
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices;  ///< of kChoice
};

struct CompletedOption {
  OptionDescription description;
  CompletedValue value;  ///< unless the description has no argument
};

struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<CompletedOption> options;
  std::vector<CompletedValue> arguments;  ///< the positional ones, in their order
};

/// The commands that people are shown.
std::vector<CompletedCommand> CompletedCommands();

/// `text` as one word of bash and zsh.
std::string ShellWord(std::string_view text);

std::string BashCompletion(const std::vector<CompletedCommand>& commands);
std::string ZshCompletion(const std::vector<CompletedCommand>& commands);
std::string FishCompletion(const std::vector<CompletedCommand>& commands);

}  // namespace commands
