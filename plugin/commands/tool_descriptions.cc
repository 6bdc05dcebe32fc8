#include "commands/tool_descriptions.h"

#include <nlohmann/json.hpp>
#include <string>

#include "mcp/tool_list.h"
#include "tools/contract.h"

namespace commands {

nlohmann::json ToolDescriptions() {
  nlohmann::json tools = nlohmann::json::array();
  for (const mcp::ToolDefinition& definition : tools::Definitions()) {
    std::string text;
    mcp::AppendDefinition(text, definition);
    tools.push_back(nlohmann::json::parse(text));
  }
  return {{"tools", std::move(tools)}};
}

}  // namespace commands
