#include "commands/completions.h"

#include <sstream>

namespace commands {
namespace {

/// `placeholder` is an option's ("DIR[:w]") or a positional argument's ("INSTANCE").
CompletedValue ValueOf(const std::string& placeholder, const OptionParser& parser) {
  if (std::vector<std::string> choices = parser.Choices(placeholder); !choices.empty()) {
    return {ValueKind::kChoice, std::move(choices)};
  }
  if (placeholder == "INSTANCE") return {ValueKind::kInstance, {}};
  if (placeholder.starts_with("DIR")) return {ValueKind::kDirectory, {}};
  if (placeholder == "FILE") return {ValueKind::kFile, {}};
  return {};
}

/// "[AGENT] [INSTANCE]" names two.
std::vector<std::string> Placeholders(const std::string& positional_help) {
  std::string names;
  for (const char c : positional_help) {
    if (c != '[' && c != ']') names += c;
  }
  std::istringstream words(names);
  std::vector<std::string> placeholders;
  for (std::string word; words >> word;) placeholders.push_back(word);
  return placeholders;
}

CompletedCommand Complete(const Command& command) {
  const OptionParser parser = command.parser();
  CompletedCommand completed{std::string(command.name), std::string(command.summary), {}, {}};
  for (OptionDescription& option : parser.DescribeOptions()) {
    CompletedValue value = ValueOf(option.argument, parser);
    completed.options.push_back({std::move(option), std::move(value)});
  }
  for (const std::string& placeholder : Placeholders(parser.positional_help())) {
    completed.arguments.push_back(ValueOf(placeholder, parser));
  }
  return completed;
}

}  // namespace

std::vector<CompletedCommand> CompletedCommands() {
  std::vector<CompletedCommand> commands;
  for (const Command& command : CommandList()) {
    if (!command.summary.empty()) commands.push_back(Complete(command));
  }
  return commands;
}

std::string ShellWord(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace commands
