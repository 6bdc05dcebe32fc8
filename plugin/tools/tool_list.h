#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mcp/tool.h"
#include "shell/capped_output.h"
#include "tools/command_runner.h"
#include "tools/workspace.h"

namespace tools {

/// Bounds of `ToolOptions::maximum_output_bytes`: below, an agent would see nothing useful; above,
/// many commands at once would take the memory of the whole machine.
inline constexpr std::uint64_t kSmallestMaximumOutput = 1024;
inline constexpr std::uint64_t kLargestMaximumOutput = std::uint64_t{64} * 1024 * 1024;

/// What the user of the program may choose.
struct ToolOptions {
  /// How long a command may run; 0 is no limit.
  std::chrono::milliseconds command_timeout = kDefaultCommandTimeout;

  /// What is kept of each output stream of a command, and of the lines that a search finds, in
  /// bytes.
  std::size_t maximum_output_bytes = shell::kDefaultMaximumOutput;
};

/// The one list of tools, in alphabetical order: what Definitions() describes. `workspaces` must
/// outlive them.
std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options);

}  // namespace tools
