#include "commands/option_parser.h"

#include <exception>
#include <iostream>

#include "commands/commands.h"

namespace commands {
namespace {

constexpr const char* kPositional = "positional";

// An option's long names: one in cxxopts 3.0, several since 3.1.
[[maybe_unused]] std::string LongName(const std::string& name) {
  return name;
}
[[maybe_unused]] std::string LongName(const std::vector<std::string>& names) {
  return names.empty() ? "" : names.front();
}

// cxxopts leaves the blank at which it has broken a line.
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
      summary_(summary),
      positional_help_(positional),
      maximum_positional_(maximum_positional),
      options_("limactl mcp " + command_, summary) {
  options_.custom_help("[OPTIONS]");
  options_.positional_help(positional);
  options_.add_options()("h,help", "Print this help");
  // In a group of its own, which the help leaves out.
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
  } catch (const std::exception& error) {  // the class's name differs between cxxopts 3.0 and 3.1
    throw UsageError(std::string(error.what()) + "; 'limactl mcp " + command_ +
                     " --help' lists the options");
  }
  if (positional_.size() > maximum_positional_) {
    throw UsageError("unexpected argument \"" + positional_[maximum_positional_] +
                     "\"; 'limactl mcp " + command_ + " --help' shows the usage");
  }
  return result;
}

std::vector<OptionDescription> OptionParser::DescribeOptions() const {
  std::vector<OptionDescription> descriptions;
  for (const cxxopts::HelpOptionDetails& option : options_.group_help("").options) {
    OptionDescription description;
    description.letter = option.s;
    description.name = LongName(option.l);
    description.text = option.desc;
    if (!option.is_boolean) {
      description.argument = option.arg_help.empty() ? "VALUE" : option.arg_help;
      if (option.has_default) description.default_value = option.default_value;
    }
    descriptions.push_back(std::move(description));
  }
  return descriptions;
}

std::vector<std::string> OptionParser::Choices(const std::string& argument) const {
  const auto found = choices_.find(argument);
  return found == choices_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace commands
