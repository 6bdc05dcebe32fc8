#pragma once

#include <cstddef>
#include <cxxopts.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace commands {

/// An option as people see it.
struct OptionDescription {
  std::string letter;         ///< of the short form; may be empty
  std::string name;           ///< of the long form
  std::string text;           ///< what it does: sentences without the last full stop
  std::string argument;       ///< what its value is, such as "DIR"; empty: it takes none
  std::string default_value;  ///< empty: there is none
};

/// What all commands have in common on top of cxxopts: `-h`/`--help`, a bounded number of
/// positional arguments, and errors that are one UsageError each.
class OptionParser {
 public:
  /// `command` is the command's name; `positional` names its positional arguments in the usage line
  /// ("[INSTANCE]"), at most `maximum_positional` of them.
  OptionParser(std::string_view command, const std::string& summary, const std::string& positional,
               std::size_t maximum_positional);

  /// For adding options; see cxxopts.
  cxxopts::OptionAdder AddOptions() { return options_.add_options(); }

  /// States the only values of a positional argument ("AGENT"), for completions; Parse checks none.
  void SetChoices(const std::string& argument, std::vector<std::string> choices) {
    choices_[argument] = std::move(choices);
  }

  /// Empty when help was asked for, which has then been printed. Throws UsageError.
  std::optional<cxxopts::ParseResult> Parse(const std::vector<std::string>& arguments);

  /// The positional arguments of the last Parse.
  [[nodiscard]] const std::vector<std::string>& positional() const { return positional_; }

  // What help, man page and completions show.
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::string& positional_help() const { return positional_help_; }
  /// All options in the order of the help, `--help` the first.
  [[nodiscard]] std::vector<OptionDescription> DescribeOptions() const;
  /// Of a positional argument; empty where none were stated.
  [[nodiscard]] std::vector<std::string> Choices(const std::string& argument) const;

 private:
  std::string command_;
  std::string summary_;
  std::string positional_help_;
  std::size_t maximum_positional_;
  cxxopts::Options options_;
  std::vector<std::string> positional_;
  std::map<std::string, std::vector<std::string>> choices_;
};

}  // namespace commands
