#pragma once

#include <cstddef>
#include <cxxopts.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace commands {

/// What all commands share on top of cxxopts: `-h`/`--help`, a bounded number of positional
/// arguments, and errors that are one UsageError each.
class OptionParser {
 public:
  /// `positional` names the positional arguments in the usage line ("[INSTANCE]"); at most
  /// `maximum_positional` are accepted.
  OptionParser(std::string_view command, const std::string& summary, const std::string& positional,
               std::size_t maximum_positional);

  /// For adding options; see cxxopts.
  cxxopts::OptionAdder AddOptions() { return options_.add_options(); }

  /// Empty after printing the help. The positional arguments are ParseResult::unmatched(). Throws
  /// UsageError.
  std::optional<cxxopts::ParseResult> Parse(const std::vector<std::string>& arguments);

 private:
  std::string command_;
  std::size_t maximum_positional_;
  cxxopts::Options options_;
};

}  // namespace commands
