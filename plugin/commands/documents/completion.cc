// SPDX-License-Identifier: Apache-2.0
#include "commands/documents/completion.h"

#include <initializer_list>
#include <utility>

#include "commands/command_table.h"
#include "support/format.h"
#include "support/join.h"

namespace commands {
namespace {

using support::Replaced;
using Replacements = std::initializer_list<std::pair<std::string_view, std::string>>;

std::string Filled(std::string_view format, const Replacements& replacements) {
  std::string text(format);
  for (const auto& [from, to] : replacements) text = Replaced(text, from, to);
  return text;
}

std::string Offered(Offers offers, const CompletionFormat& format) {
  if (offers == Offers::kNothing) return std::string(format.nothing);
  if (offers == Offers::kDirectories) return std::string(format.directories);
  if (offers == Offers::kFiles) return std::string(format.files);
  if (offers == Offers::kInstances) return std::string(format.instances);
  return Replaced(format.words, "@WORDS@", support::Join(OfferedWords(offers), " "));
}

}  // namespace

std::string Completion(const CompletionFormat& format) {
  const auto quoted = [&](std::string_view text) { return format.quoted(Replaced(text, "`", "")); };
  std::string text;
  for (const Command& command : Commands()) {
    std::string part = Filled(format.command, {{"@BRIEF@", quoted(command.brief)}});
    for (const Option& option : AllOptions(command)) {
      part += Filled(option.value.empty() ? format.option : format.value,
                     {{"@NAME@", std::string(option.name)},
                      {"@VALUE@", quoted(option.value)},
                      {"@BRIEF@", quoted(option.brief)},
                      {"@OFFER@", Offered(option.offers, format)},
                      {"@*@", option.is_list ? "*" : ""}});
    }
    for (std::size_t i = 0; i < command.arguments.size(); ++i) {
      part += Filled(format.argument, {{"@NUMBER@", std::to_string(i)},
                                       {"@OFFER@", Offered(command.arguments[i].offers, format)}});
    }
    text += Replaced(part + std::string(format.end), "@COMMAND@", command.name);
  }
  return text;
}

}  // namespace commands
