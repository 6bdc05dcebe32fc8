// SPDX-License-Identifier: Apache-2.0
#include "agents/arguments.h"

#include <algorithm>
#include <vector>

#include "support/edit_distance.h"
#include "support/format.h"
#include "support/join.h"
#include "support/words.h"

namespace agents {
namespace {

using support::Format;
using support::Words;

/// The word of `options` for an option; empty if there is none.
std::string_view FindOption(std::string_view options, std::string_view name) {
  for (const std::string_view word : Words(options)) {
    if (word.substr(0, word.find_first_of("=?")) == name) return word;
  }
  return "";
}

const Refusal* FindRefusal(const ArgumentRules& rules, std::string_view name) {
  const auto refusal =
      std::find_if(rules.refusals.begin(), rules.refusals.end(),
                   [&](const Refusal& each) { return !FindOption(each.options, name).empty(); });
  return refusal == rules.refusals.end() ? nullptr : &*refusal;
}

/// The error for an option or a word.
std::string Refused(const std::string& argument, const Mode& mode, const ArgumentRules& rules) {
  const bool is_option = argument.size() > 1 && argument.starts_with('-');
  const std::string shown = is_option ? argument : Format("\"{}\"", argument);
  const std::string text = Format("{} is not passed on to {}: ", shown, rules.title);
  if (const Refusal* refusal = FindRefusal(rules, argument))
    return text + std::string(refusal->reason);
  if (is_option) {
    std::vector<std::string> known;
    for (const std::string_view word : Words(mode.options))
      known.emplace_back(word.substr(0, word.find_first_of("=?")));
    return Format(
        "{}it is not known to leave the agent confined.{} `limactl mcp run AGENT --help` lists "
        "the options that are",
        text, support::DidYouMean(argument, known));
  }
  std::vector<std::string> commands;
  for (const Mode& each : rules.modes.subspan(1)) commands.emplace_back(each.command);
  return Format(
      "{}it may be a command or a directory, and as the first word only these are confined: {}. "
      "Give a prompt as two words or more, in quotes",
      text, commands.empty() ? "none" : support::Join(commands));
}

/// Agents take a first word that they know for a command.
bool MayBeACommand(std::string_view word) {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == word.npos;
}

/// The error for the option at the front; takes it and its value off `arguments`.
std::optional<std::string> CheckOption(std::span<const std::string>& arguments, const Mode& mode,
                                       const ArgumentRules& rules) {
  const std::string& argument = arguments.front();
  arguments = arguments.subspan(1);
  const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
  const std::string name = argument.substr(0, equals);
  const std::string_view option = FindOption(mode.options, name);
  if (option.empty()) return Refused(name, mode, rules);
  const std::string_view kind = option.substr(name.size());  // "", "?", "=" or "=a|b"
  std::string value;
  if (equals != std::string::npos) {
    if (kind.empty()) return Format("{} of {} takes no value", name, rules.title);
    value = argument.substr(equals + 1);
  } else if (!kind.empty() && !arguments.empty() && !arguments.front().starts_with('-')) {
    value = arguments.front();
    arguments = arguments.subspan(1);
  } else if (kind.starts_with('=')) {
    return Format("{} of {} needs a value that does not begin with -", name, rules.title);
  }
  if (kind.size() <= 1) return std::nullopt;
  const std::string values = "|" + std::string(kind.substr(1)) + "|";
  const bool is_one =
      value.find('|') == value.npos && values.find("|" + value + "|") != values.npos;
  return is_one ? std::nullopt : std::optional(Refused(name, mode, rules));
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
    if (argument == "--") {  // only words follow
      if (mode->takes_prompt && FindRefusal(rules, argument) == nullptr) return std::nullopt;
      return Refused(argument, *mode, rules);
    }
    if (argument.size() > 1 && argument.front() == '-') {
      if (auto error = CheckOption(arguments, *mode, rules)) return error;
      continue;
    }
    const bool may_be_command = is_first_word && mode->has_commands && MayBeACommand(argument);
    if (!mode->takes_prompt || may_be_command) return Refused(argument, *mode, rules);
    arguments = arguments.subspan(1);
    is_first_word = false;
  }
  return std::nullopt;
}

std::string ArgumentHelp(const ArgumentRules& rules) {
  std::string text = Format("After `--`, {} gets (`=` takes a value, `?` may):\n", rules.title);
  for (const Mode& mode : rules.modes) {
    // A command with the options of the first mode is one of them.
    const bool is_listed = mode.options.data() == rules.modes.front().options.data();
    if (is_listed && !mode.command.empty()) continue;
    text.append("  ").append(mode.command).append(mode.command.empty() ? "" : " ");
    if (mode.takes_prompt) text += "PROMPT ";
    for (const std::string_view word : Words(mode.options)) text.append(word).append(" ");
    text.back() = '\n';
  }
  text += "\nNot passed on:\n";
  for (const Refusal& refusal : rules.refusals) {
    text.append("  ").append(refusal.options).append(": ").append(refusal.reason).append("\n");
  }
  return text + "\n";
}

}  // namespace agents
