#include "commands/option_parser.h"

#include <exception>
#include <iostream>

#include "commands/commands.h"

namespace commands {

OptionParser::OptionParser(std::string_view command, const std::string& summary,
                           const std::string& positional, std::size_t maximum_positional)
    : command_(command),
      maximum_positional_(maximum_positional),
      options_("limactl mcp " + command_, summary) {
  options_.custom_help(positional.empty() ? "[OPTIONS]" : "[OPTIONS] " + positional);
  options_.add_options()("h,help", "Print this help");
}

std::optional<cxxopts::ParseResult> OptionParser::Parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> pointers = {"limactl-mcp"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const std::string help = "; 'limactl mcp " + command_ + " --help' shows the usage";
  std::optional<cxxopts::ParseResult> result;
  try {
    result = options_.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const std::exception& error) {  // cxxopts 3.0 and 3.1 name the class differently
    throw UsageError(error.what() + help);
  }
  if (result->count("help") > 0) {
    std::cout << options_.help({""});
    return std::nullopt;
  }
  if (result->unmatched().size() > maximum_positional_) {
    throw UsageError("unexpected argument \"" + result->unmatched()[maximum_positional_] + "\"" +
                     help);
  }
  return result;
}

}  // namespace commands
