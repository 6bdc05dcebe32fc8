#pragma once

#include <string_view>
#include <vector>

#include "mcp/tool.h"

/// What the tools promise, apart from what they do: names, schemas and texts as data. The names,
/// properties, types and outputs are those that Lima's MCP interface fixes (package msi of
/// github.com/lima-vm/lima, pkg/mcp/msi); the texts are our own.
namespace tools {

/// All tools, in alphabetical order. Needs no instance. Thread-safe; lives as long as the program.
const std::vector<mcp::ToolDefinition>& Definitions();

/// One of them. Throws std::out_of_range when there is no such tool.
const mcp::ToolDefinition& Definition(std::string_view name);

}  // namespace tools
