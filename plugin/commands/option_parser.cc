#include "commands/option_parser.h"

#include <re2/re2.h>

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

void OptionParser::AddList(const std::string& name, const std::string& help,
                           const std::string& value_name) {
  AddOptions()(name, help, cxxopts::value<std::vector<std::string>>(), value_name);
  lists_.insert(name);
}

std::optional<cxxopts::ParseResult> OptionParser::Parse(const std::vector<std::string>& arguments) {
  std::vector<const char*> pointers = {"limactl-mcp"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  const std::string help = "; 'limactl mcp " + command_ + " --help' shows the usage";
  std::optional<cxxopts::ParseResult> result;
  try {
    result = options_.parse(static_cast<int>(pointers.size()), pointers.data());
  } catch (const std::exception& error) {  // cxxopts 3.0 and 3.1 name the class differently
    // Releases of cxxopts quote names differently.
    std::string text = error.what();
    re2::RE2::GlobalReplace(&text, "‘|’|'", "\"");
    throw UsageError(text + help);
  }
  if (result->count("help") > 0) {
    std::cout << options_.help({""});
    return std::nullopt;
  }
  for (const cxxopts::KeyValue& option : result->arguments()) {
    if (result->count(option.key()) > 1 && !lists_.contains(option.key())) {
      throw UsageError("--" + option.key() + " is given more than once" + help);
    }
  }
  if (result->unmatched().size() > maximum_positional_) {
    throw UsageError("unexpected argument \"" + result->unmatched()[maximum_positional_] + "\"" +
                     help);
  }
  return result;
}

}  // namespace commands
