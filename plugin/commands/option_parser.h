#pragma once

#include <cstddef>
#include <cxxopts.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace commands {

/// On top of cxxopts: `-h`/`--help`, a bounded number of positional arguments, options that are
/// given once unless they are lists, and a UsageError for each error.
class OptionParser {
 public:
  /// `positional` names the positional arguments in the usage line ("[INSTANCE]"); at most
  /// `maximum_positional` are accepted.
  OptionParser(std::string_view command, const std::string& summary, const std::string& positional,
               std::size_t maximum_positional);

  /// For adding options; see cxxopts.
  cxxopts::OptionAdder AddOptions() { return options_.add_options(); }

  /// Adds an option that may be repeated; its value is a std::vector<std::string>.
  void AddList(const std::string& name, const std::string& help, const std::string& value_name);

  /// Empty after printing the help. The positional arguments are ParseResult::unmatched(). Throws
  /// UsageError.
  std::optional<cxxopts::ParseResult> Parse(const std::vector<std::string>& arguments);

 private:
  std::string command_;
  std::size_t maximum_positional_;
  cxxopts::Options options_;
  std::set<std::string> lists_;
};

}  // namespace commands
