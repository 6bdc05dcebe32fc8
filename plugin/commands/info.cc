#include <iostream>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/tool_descriptions.h"

namespace commands {

OptionParser InfoParser() {
  return {"info", "Print the tools as JSON; needs no instance", "", 0};
}

int Info(const std::vector<std::string>& arguments) {
  OptionParser parser = InfoParser();
  if (!parser.Parse(arguments)) return 0;
  std::cout << ToolDescriptions().dump(4) << '\n';
  return 0;
}

}  // namespace commands
