#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mcp/tool.h"
#include "shell/capped_output.h"
#include "tools/workspace.h"

namespace tools {

/// What the user of the program can set.
struct ToolOptions {
  /// How long a command may run; 0: no limit. Gemini CLI gives up after ten minutes.
  std::chrono::milliseconds command_timeout = std::chrono::minutes(9);

  /// Bytes kept of each output stream of a command, and of the lines that a search finds.
  std::size_t maximum_output_bytes = shell::kDefaultMaximumOutput;

  /// For `glob` and `search_file_content`. Only tests change it.
  std::chrono::seconds search_timeout{60};
};

/// Bounds of ToolOptions::maximum_output_bytes: with less an agent sees nothing useful; with more,
/// many commands at once use up the machine's memory.
inline constexpr std::uint64_t kSmallestMaximumOutput = 1024;
inline constexpr std::uint64_t kLargestMaximumOutput = std::uint64_t{64} * 1024 * 1024;

/// All tools, in alphabetical order, as Definitions() describes them. `workspaces` must outlive
/// them.
std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options);

}  // namespace tools
