// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The command line as data. The parser, --help, docs/options.md, the manual and what shells
/// complete are made from it. In its texts, what a user types stands in backticks.
namespace commands {

struct Parsed;

/// The words that a shell offers for a value or an argument.
enum class Offers { kNothing, kDirectories, kFiles, kInstances, kAgents, kAgentsOfRun, kStyles };

/// The words of kAgents, kAgentsOfRun and kStyles. No others have any.
std::vector<std::string> OfferedWords(Offers offers);

/// Besides texts, what the value of an option may be.
enum class Values { kText, kOrEmpty, kOrEmptyOrAlone };

struct Option {
  std::string_view name;   ///< without "--"
  std::string_view value;  ///< its name in the help; empty: a switch
  Offers offers;
  std::string_view brief;            ///< one line: for --help and shells
  std::string_view more = {};        ///< sentences for options.md and the manual
  std::string_view by_default = {};  ///< the value
  bool is_list = false;              ///< may be repeated
  Values values = Values::kText;
};

struct OptionGroup {
  std::string_view title;
  std::vector<Option> options;
};

struct Argument {
  /// "AGENT", "[INSTANCE]", "[HOST...]"; the parser never sees "[-- WORDS]".
  std::string_view usage;
  Offers offers;
  std::string_view brief;
};

struct Command {
  std::string_view name;
  int (*run)(const Parsed& parsed);
  std::vector<Argument> arguments = {};
  std::string_view brief;             ///< one line: for all, also shells
  std::string_view more = {};         ///< sentences, for all but shells
  std::string_view page = {};         ///< of docs/, which has more
  std::string_view example = {};      ///< after "limactl mcp "
  std::string_view exit_status = {};  ///< empty: 0, or 1 after an error
  std::vector<Option> options = {};
  bool has_options_of_serve = false;  ///< after its own
};

/// All commands but generate-doc, in the order of the documents.
std::span<const Command> Commands();

/// Any command; null if there is none.
const Command* FindCommand(std::string_view name);

/// The options of `serve` that `run` has, too.
std::span<const OptionGroup> OptionsOfServe();

/// All options that the parser knows.
std::vector<Option> AllOptions(const Command& command);

/// A term and its description.
struct Row {
  std::string term;
  std::string text;
};

std::vector<Row> EnvironmentVariables();
std::vector<Row> FilesOfLima();

}  // namespace commands
