// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/command_table.h"
#include "commands/commands.h"
#include "lima/home.h"
#include "support/format.h"
#include "support/paths.h"

namespace commands {
namespace {

using Words = std::vector<std::string>;

/// bash splits --option=value into three words. Joins them. Returns whether the last word is one.
bool JoinSplitOptions(Words& words) {
  bool is_last = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    is_last = words[i] == "=" && words[i - 1].starts_with("--");
    if (!is_last) continue;
    const std::string value = i + 1 < words.size() ? words[i + 1] : "";
    words[i - 1] += "=" + value;
    const auto at = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(at, std::min(at + 2, words.end()));
    is_last = i == words.size();
    --i;
  }
  return is_last;
}

/// Removes the program and, of limactl, its options and `mcp`. False for another command of
/// limactl.
bool RemoveProgram(Words& words) {
  auto at = words.begin();
  if (at == words.end()) return false;
  if (support::LastComponent(*at++) == "limactl") {
    while (at != words.end() && at->starts_with('-')) {
      const bool has_value = *at == "--log-level" || *at == "--log-format";
      at += has_value && at + 1 != words.end() ? 2 : 1;
    }
    if (at == words.end() || *at++ != "mcp") return false;
  }
  words.erase(words.begin(), at);
  return !words.empty();
}

void Print(std::string_view word, std::string_view brief, std::string_view typed) {
  if (word.starts_with(typed))
    std::cout << word << '\t' << support::Replaced(brief, "`", "") << '\n';
}

void PrintValues(Offers offers, const std::string& typed, const std::string& prefix = "") {
  if (offers == Offers::kDirectories) std::cout << ":directories\n";
  if (offers == Offers::kFiles) std::cout << ":files\n";
  const Words words = offers == Offers::kInstances ? lima::ListInstances(lima::HomeDirectory())
                                                   : OfferedWords(offers);
  for (const std::string& word : words) Print(prefix + word, "", prefix + typed);
}

void PrintCommands(const std::string& typed) {
  for (const Command& command : Commands()) Print(command.name, command.brief, typed);
  Print("help", "Print help", typed);
}

void PrintOptions(const Command* command, const std::string& typed) {
  for (const Option& option : command == nullptr ? std::vector<Option>() : AllOptions(*command)) {
    Print("--" + std::string(option.name), option.brief, typed);
  }
  for (const char* name : {"--help", "-h"}) Print(name, "Print help", typed);
  if (command != nullptr) return;
  for (const char* name : {"--version", "-v"}) Print(name, "Print the version", typed);
}

/// What stands before the word that is typed.
struct Before {
  const Command* command = nullptr;
  std::size_t arguments = 0;  ///< of the command
  bool takes_value = false;   ///< the last word is an option that needs a value
  Offers value = Offers::kNothing;
  bool is_unknown = false;  ///< nothing can be said of what follows
};

/// Reads an option `--NAME`.
void ReadOption(const std::string& word, Before& before) {
  if (before.command == nullptr) return;
  for (const Option& option : AllOptions(*before.command)) {
    if (word != "--" + std::string(option.name) || option.value.empty()) continue;
    before.takes_value = true;
    before.value = option.offers;
  }
}

Before ReadBefore(const Words& words) {
  Before before;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (std::exchange(before.takes_value, false)) continue;
    if (words[i] == "--") {  // options of `serve`, or words for an agent
      before.is_unknown = before.command == nullptr || before.command->name != "configure";
      before.command = FindCommand("serve");
      before.arguments = before.command->arguments.size();
    } else if (words[i].starts_with('-')) {
      ReadOption(words[i], before);
    } else if (before.command != nullptr) {
      ++before.arguments;
    } else if (words[i] != "help") {
      before.command = FindCommand(words[i]);
      before.is_unknown |= before.command == nullptr;
    }
    if (before.is_unknown) break;
  }
  return before;
}

}  // namespace

int Complete(Words words) {
  const bool is_split = JoinSplitOptions(words);
  if (!RemoveProgram(words)) return 1;
  const std::string typed = words.back();
  Before before = ReadBefore(words);
  if (before.is_unknown) return 0;
  const std::size_t equals = typed.find('=');
  if (before.takes_value) {
    PrintValues(before.value, typed);
  } else if (typed.starts_with("--") && equals != std::string::npos) {
    ReadOption(typed.substr(0, equals), before);
    PrintValues(before.value, typed.substr(equals + 1),
                is_split ? "" : typed.substr(0, equals + 1));
  } else if (typed.starts_with('-')) {
    PrintOptions(before.command, typed);
  } else if (before.command == nullptr) {
    PrintCommands(typed);
  } else if (before.arguments < before.command->arguments.size()) {
    PrintValues(before.command->arguments[before.arguments].offers, typed);
  }
  return 0;
}

}  // namespace commands
