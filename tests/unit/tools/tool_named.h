#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "mcp/tool.h"
#include "tools/tool_list.h"
#include "tools/workspace.h"

namespace tools {

/// One of MakeTools.
inline std::unique_ptr<mcp::Tool> ToolNamed(const std::string& name, WorkspaceSource& workspaces,
                                            const ToolOptions& options = {}) {
  for (auto& tool : MakeTools(workspaces, options)) {
    if (tool->definition().name == name) return std::move(tool);
  }
  throw std::out_of_range(name);
}

}  // namespace tools
