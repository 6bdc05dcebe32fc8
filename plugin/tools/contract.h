#pragma once

#include <chrono>

#include "mcp/tool.h"

/// What each tool is for its caller: schemas, texts and hints, as data. Names, properties, types
/// and outputs are those of Lima's MCP interface (package msi of github.com/lima-vm/lima,
/// pkg/mcp/msi); the texts are ours. tool_list.cc adds name and lane.
namespace tools::contract {

mcp::ToolDefinition Glob();
mcp::ToolDefinition ListDirectory();
mcp::ToolDefinition ReadFile();
mcp::ToolDefinition ReadProcess();
mcp::ToolDefinition Replace();
/// 0: no limit.
mcp::ToolDefinition RunShellCommand(std::chrono::milliseconds time_limit);
mcp::ToolDefinition SearchFileContent();
mcp::ToolDefinition StartProcess();
mcp::ToolDefinition WriteFile();
mcp::ToolDefinition WriteProcess();

}  // namespace tools::contract
