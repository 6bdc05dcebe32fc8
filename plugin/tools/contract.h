#pragma once

#include <string_view>
#include <vector>

#include "mcp/tool.h"

/// The tools' names, schemas and texts, as data. Names, properties, types and outputs are those of
/// Lima's MCP interface (package msi of github.com/lima-vm/lima, pkg/mcp/msi); the texts are ours.
namespace tools {

/// All tools, in alphabetical order. Needs no instance. Thread-safe; valid as long as the program.
const std::vector<mcp::ToolDefinition>& Definitions();

/// Throws std::out_of_range if there is no such tool.
const mcp::ToolDefinition& Definition(std::string_view name);

}  // namespace tools
