#include "agents/arguments.h"

#include <algorithm>

namespace agents {
namespace {

/// Agents take a first word that they know for a command.
bool MayBeACommand(std::string_view word) {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

const Mode* FindMode(std::string_view command, std::span<const Mode> modes) {
  const auto mode =
      std::find_if(modes.begin(), modes.end(), [&](const Mode& m) { return m.command == command; });
  return mode == modes.end() ? nullptr : &*mode;
}

std::string List(const Mode& mode) {
  std::string list;
  for (const AllowedOption& option : mode.options) {
    if (!list.empty()) list += ' ';
    list += option.name;
  }
  return list;
}

std::string Commands(std::span<const Mode> modes) {
  std::string list;
  for (const Mode& mode : modes) {
    if (!mode.command.empty()) list.append(list.empty() ? "" : ", ").append(mode.command);
  }
  return list.empty() ? "none" : list;
}

std::string OptionText(std::string_view name, const Mode& mode, const ArgumentRules& rules) {
  const std::string refused =
      std::string(name) + " is not passed on to " + std::string(rules.title) + ": ";
  for (const RefusedOption& option : rules.refused) {
    if (option.name == name) return refused + std::string(option.reason);
  }
  return refused + "it is not known to leave the agent confined. These are: " + List(mode);
}

std::string CommandText(std::string_view word, const ArgumentRules& rules) {
  return "\"" + std::string(word) + "\" may be a command of " + std::string(rules.title) +
         " that is not confined; these can be used: " + Commands(rules.modes) +
         ". For a prompt of one word, " + std::string(rules.one_word_prompt);
}

}  // namespace

std::optional<std::string> FindRefused(std::span<const std::string> arguments,
                                       const ArgumentRules& rules) {
  const Mode* mode = FindMode("", rules.modes);
  bool first_word = true;
  if (!arguments.empty() && !arguments.front().empty()) {
    if (const Mode* named = FindMode(arguments.front(), rules.modes)) {
      mode = named;
      arguments = arguments.subspan(1);
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (argument == "--" || !is_option) {
      const bool rest = argument == "--";
      if (rest && i + 1 == arguments.size()) return std::nullopt;
      if (!mode->takes_prompt) {
        return "\"" + (rest ? arguments[i + 1] : argument) + "\" is not passed on to " +
               std::string(rules.title) + ": it takes no further words here";
      }
      if (rest) return std::nullopt;
      if (mode->has_commands && first_word && MayBeACommand(argument)) {
        return CommandText(argument, rules);
      }
      first_word = false;
      continue;
    }
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const std::string name = argument.substr(0, equals);
    const auto option = std::find_if(mode->options.begin(), mode->options.end(),
                                     [&](const AllowedOption& o) { return o.name == name; });
    if (option == mode->options.end()) return OptionText(name, *mode, rules);
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      if (option->value == OptionValue::kNone) return name + " takes no value";
      value = argument.substr(equals + 1);
    } else if (option->value != OptionValue::kNone && i + 1 < arguments.size() &&
               !arguments[i + 1].starts_with('-')) {
      value = arguments[++i];
    } else if (option->value == OptionValue::kRequired) {
      return name + " needs a value that does not begin with -";
    }
    if (value && option->accepts != nullptr && !option->accepts(*value)) {
      return OptionText(name, *mode, rules);
    }
  }
  return std::nullopt;
}

}  // namespace agents
