#include "commands/option_parser.h"

#include <exception>
#include <iostream>

#include "commands/commands.h"

namespace commands {
namespace {

constexpr const char* kPositional = "positional";

/// cxxopts leaves the blank at which it broke a line.
std::string WithoutTrailingBlanks(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result.erase(result.find_last_not_of(' ') + 1);
    result += c;
  }
  return result;
}

}  // namespace

OptionParser::OptionParser(std::string_view command, const std::string& summary,
                           const std::string& positional, std::size_t maximum_positional)
    : command_(command),
      maximum_positional_(maximum_positional),
      options_("limactl mcp " + command_, summary) {
  options_.custom_help("[OPTIONS]");
  options_.positional_help(positional);
  options_.add_options()("h,help", "Print this help");
  // The help leaves this group out.
  options_.add_options("hidden")(kPositional, "", cxxopts::value<std::vector<std::string>>());
  options_.parse_positional({kPositional});
}

std::optional<cxxopts::ParseResult> OptionParser::Parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> pointers = {"limactl-mcp"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  std::optional<cxxopts::ParseResult> result;
  try {
    result = options_.parse(static_cast<int>(pointers.size()), pointers.data());
    if (result->count("help") > 0) {
      std::cout << WithoutTrailingBlanks(options_.help({""}));
      return std::nullopt;
    }
    positional_.clear();
    if (result->count(kPositional) > 0) {
      positional_ = (*result)[kPositional].as<std::vector<std::string>>();
    }
  } catch (const std::exception& error) {  // cxxopts 3.0 and 3.1 name the class differently
    throw UsageError(std::string(error.what()) + "; 'limactl mcp " + command_ +
                     " --help' lists the options");
  }
  if (positional_.size() > maximum_positional_) {
    throw UsageError("unexpected argument \"" + positional_[maximum_positional_] +
                     "\"; 'limactl mcp " + command_ + " --help' shows the usage");
  }
  return result;
}

}  // namespace commands
