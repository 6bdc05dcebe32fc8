// SPDX-License-Identifier: Apache-2.0
#include "commands/option_parser.h"

#include <algorithm>
#include <exception>
#include <iostream>

#include "commands/commands.h"
#include "commands/documents/documents.h"
#include "support/edit_distance.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"

namespace commands {
namespace {

cxxopts::Options MakeOptions(const Command& command) {
  cxxopts::Options options("limactl mcp " + std::string(command.name));
  cxxopts::OptionAdder add = options.add_options();
  add("h,help", "");
  for (const Option& option : AllOptions(command)) {
    add(std::string(option.name), "",
        option.is_list ? cxxopts::value<std::vector<std::string>>()
        : option.value.empty()
            ? cxxopts::value<bool>()
            : cxxopts::value<std::string>()->default_value(std::string(option.by_default)));
  }
  return options;
}

/// Rewords an error of cxxopts, whose releases quote names differently.
std::string ErrorText(std::string text, const std::vector<Option>& options) {
  static const support::Regex error(R"re((?s)(?:Argument|Option) "(.*)" (\S+).*)re",
                                    support::Regex::kLatin1);
  support::Regex("‘|’|'").ReplaceAll(text, "\"");
  std::string word;
  std::string problem;
  if (!error.FullMatch(text, &word, &problem)) return text + ".";
  if (problem == "failed")  // to parse: the value of a switch
    return support::Format("unexpected value \"{}\": leave it out, or give true or false.", word);
  std::vector<std::string> known = {"--help"};
  for (const Option& option : options) {
    known.push_back("--" + std::string(option.name));
    if (problem == "is" && option.name == word)  // missing an argument
      return support::Format("{} needs a value: {} {}.", known.back(), known.back(), option.value);
  }
  if (problem == "does") word = (word.size() > 1 ? "--" : "-") + word;  // not exist
  return UnknownText("option", word.substr(0, word.find('=')), known);
}

}  // namespace

std::optional<Parsed> Parse(const Command& command, std::vector<std::string> arguments) {
  const std::vector<Option> options = AllOptions(command);
  const std::string help =
      support::Format(" 'limactl mcp {} --help' shows the usage", command.name);
  std::size_t maximum = command.arguments.size();
  std::vector<std::string> rest;
  if (maximum > 0 && command.arguments.back().usage.starts_with("[--")) {
    --maximum;
    const auto separator = std::find(arguments.begin(), arguments.end(), "--");
    if (separator != arguments.end()) rest.assign(separator + 1, arguments.end());
    arguments.erase(separator, arguments.end());
  }
  for (const Option& option : options) {
    const bool may_be_alone = option.values == Values::kOrEmptyOrAlone && !arguments.empty();
    if (may_be_alone && arguments.back() == "--" + std::string(option.name))
      arguments.emplace_back(kAlone);
  }
  std::vector<const char*> pointers = {"limactl-mcp"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  std::optional<Parsed> result;
  try {
    result = {MakeOptions(command).parse(static_cast<int>(pointers.size()), pointers.data()), rest};
  } catch (const std::exception& error) {  // cxxopts 3.0 and 3.1 name the class differently
    throw support::Error(ErrorText(error.what(), options) + help);
  }
  if (result->count("help") > 0) {
    std::cout << CommandHelp(*FindCommand(command.name), result->unmatched());
    return std::nullopt;
  }
  for (const cxxopts::KeyValue& option : result->arguments()) {
    const bool may_be_empty = std::any_of(options.begin(), options.end(), [&](const Option& known) {
      return known.name == option.key() && known.values != Values::kText;
    });
    if (option.value().empty() && !may_be_empty)
      throw support::Error(ErrorText("Option \"" + option.key() + "\" is", options) + help);
  }
  for (const Option& option : options) {
    const std::string name(option.name);
    if (option.is_list || result->count(name) <= 1) continue;
    throw support::Error("--{} is given more than once.{}", name, help);
  }
  const bool is_list =
      std::any_of(command.arguments.begin(), command.arguments.end(), [](const Argument& argument) {
        return argument.usage.find("...") != std::string_view::npos;
      });
  if (!is_list && result->unmatched().size() > maximum)
    throw support::Error("unexpected argument \"{}\".{}", result->unmatched()[maximum], help);
  return result;
}

std::string UnknownText(const std::string& kind, const std::string& word,
                        const std::vector<std::string>& known) {
  return support::Format("unknown {} \"{}\".{}", kind, word, support::DidYouMean(word, known));
}

}  // namespace commands
