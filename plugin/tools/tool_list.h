#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mcp/tool.h"
#include "tools/run_shell_command.h"
#include "tools/workspace.h"

namespace tools {

/// Bounds of ToolOptions::maximum_output_bytes: with less an agent sees nothing useful; with more,
/// many commands at once use up the machine's memory.
inline constexpr std::uint64_t kSmallestMaximumOutput = 1024;
inline constexpr std::uint64_t kLargestMaximumOutput = std::uint64_t{64} * 1024 * 1024;

/// All tools, in alphabetical order, as Definitions() describes them. `workspaces` must outlive
/// them.
std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options);

}  // namespace tools
