#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "mcp/tool.h"
#include "tools/tool_list.h"
#include "tools/workspace.h"

namespace tools {

/// One of MakeTools.
inline mcp::Tool ToolNamed(const std::string& name, WorkspaceSource& workspaces,
                           const ToolOptions& options = {}) {
  for (mcp::Tool& tool : MakeTools(workspaces, options)) {
    if (tool.definition.name == name) return std::move(tool);
  }
  throw std::out_of_range(name);
}

/// The structured content of a result.
inline nlohmann::json Structured(const mcp::ToolResult& result) {
  EXPECT_EQ(result.style, mcp::ResultStyle::kStructured);
  return nlohmann::json::parse(result.content);
}

/// The text of a result that has no structured content.
inline std::string TextOf(const mcp::ToolResult& result) {
  EXPECT_EQ(result.style, mcp::ResultStyle::kText);
  return result.content;
}

}  // namespace tools
