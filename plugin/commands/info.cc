// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "commands/commands.h"
#include "mcp/protocol.h"
#include "tools/tool_list.h"

namespace commands {

int Info(const Parsed& /*none*/) {
  nlohmann::json tools = nlohmann::json::array();
  for (const mcp::ToolDefinition& definition : tools::Definitions()) {
    tools.push_back(mcp::Describe(definition));
  }
  const nlohmann::json descriptions = {{"tools", std::move(tools)}};
  std::cout << descriptions.dump(4) << '\n';
  return 0;
}

}  // namespace commands
