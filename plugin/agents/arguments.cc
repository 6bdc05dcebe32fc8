#include "agents/arguments.h"

#include <algorithm>

#include "agents/agent.h"

namespace agents {
namespace {

/// One word of Mode::options.
struct Option {
  std::string_view name;
  bool takes_value = false;
  bool needs_value = false;
  std::string_view values;  ///< between '|'; empty: any
};

Option ParseOption(std::string_view word) {
  const std::size_t end = std::min(word.find_first_of("=?"), word.size());
  const bool takes_value = end < word.size();
  const bool needs_value = takes_value && word[end] == '=';
  return {word.substr(0, end), takes_value, needs_value, needs_value ? word.substr(end + 1) : ""};
}

std::optional<Option> FindOption(const Mode& mode, std::string_view name) {
  for (const std::string_view word : Words(mode.options)) {
    if (const Option option = ParseOption(word); option.name == name) return option;
  }
  return std::nullopt;
}

bool Accepts(const Option& option, const std::string& value) {
  const std::string values = "|" + std::string(option.values) + "|";
  return option.values.empty() || (value.find('|') == std::string::npos &&
                                   values.find("|" + value + "|") != std::string::npos);
}

/// Agents take a first word that they know for a command.
bool MayBeACommand(std::string_view word) {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == word.npos;
}

std::string Refused(std::string_view word, const ArgumentRules& rules) {
  return std::string(word) + " is not passed on to " + std::string(rules.title) + ": ";
}

std::string OptionText(std::string_view name, const Mode& mode, const ArgumentRules& rules) {
  std::string text = Refused(name, rules);
  for (const Refusal& refusal : rules.refusals) {
    const auto names = Words(refusal.options);
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return text.append(refusal.reason);
    }
  }
  text += "it is not known to leave the agent confined. These are:";
  for (const std::string_view word : Words(mode.options)) {
    text.append(" ").append(ParseOption(word).name);
  }
  return text;
}

std::string CommandText(std::string_view word, const ArgumentRules& rules) {
  std::string commands;
  for (const Mode& mode : rules.modes) {
    if (!mode.command.empty()) commands.append(commands.empty() ? "" : ", ").append(mode.command);
  }
  return "\"" + std::string(word) + "\" may be a command of " + std::string(rules.title) +
         " that is not confined; these can be used: " + (commands.empty() ? "none" : commands) +
         ". For a prompt of one word, " + std::string(rules.one_word_prompt);
}

/// The error for the option at the front; takes it and its value off `arguments`.
std::optional<std::string> CheckOption(std::span<const std::string>& arguments, const Mode& mode,
                                       const ArgumentRules& rules) {
  const std::string& argument = arguments.front();
  arguments = arguments.subspan(1);
  const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
  const std::string name = argument.substr(0, equals);
  const auto option = FindOption(mode, name);
  if (!option) return OptionText(name, mode, rules);
  std::optional<std::string> value;
  if (equals != std::string::npos) {
    if (!option->takes_value) return name + " takes no value";
    value = argument.substr(equals + 1);
  } else if (option->takes_value && !arguments.empty() && !arguments.front().starts_with('-')) {
    value = arguments.front();
    arguments = arguments.subspan(1);
  } else if (option->needs_value) {
    return name + " needs a value that does not begin with -";
  }
  if (value && !Accepts(*option, *value)) return OptionText(name, mode, rules);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindRefused(std::span<const std::string> arguments,
                                       const ArgumentRules& rules) {
  const Mode* mode = &rules.modes.front();
  for (const Mode& each : rules.modes.subspan(1)) {
    if (!arguments.empty() && each.command == arguments.front()) mode = &each;
  }
  if (!mode->command.empty()) arguments = arguments.subspan(1);
  for (bool is_first_word = true; !arguments.empty();) {
    const std::string& argument = arguments.front();
    const bool ends_options = argument == "--";
    if (ends_options && !rules.separator_reason.empty()) {
      return Refused(argument, rules) + std::string(rules.separator_reason);
    }
    if (!ends_options && argument.size() > 1 && argument.front() == '-') {
      if (auto error = CheckOption(arguments, *mode, rules)) return error;
      continue;
    }
    arguments = arguments.subspan(1);
    if (ends_options && arguments.empty()) return std::nullopt;
    if (!mode->takes_prompt) {
      const std::string& word = ends_options ? arguments.front() : argument;
      return Refused("\"" + word + "\"", rules) + "it takes no further words here";
    }
    if (ends_options) return std::nullopt;
    if (mode->has_commands && is_first_word && MayBeACommand(argument)) {
      return CommandText(argument, rules);
    }
    is_first_word = false;
  }
  return std::nullopt;
}

std::string ArgumentHelp(const ArgumentRules& rules) {
  const std::string title(rules.title);
  std::string text = "After --, " + title + " gets:\n";
  for (const Mode& mode : rules.modes) {
    text.append("  ").append(mode.command).append(mode.command.empty() ? "" : " ");
    if (mode.takes_prompt) text += "PROMPT ";
    for (const std::string_view word : Words(mode.options)) text.append(word).append(" ");
    text.back() = '\n';
  }
  text += "Not passed on:\n";
  for (const Refusal& refusal : rules.refusals) {
    text.append("  ").append(refusal.options).append(": ").append(refusal.reason).append("\n");
  }
  if (!rules.separator_reason.empty()) {
    text.append("  a further --: ").append(rules.separator_reason).append("\n");
  }
  return text;
}

}  // namespace agents
