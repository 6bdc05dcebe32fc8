#pragma once

#include <chrono>
#include <cstddef>

#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Matches that one call returns; more are an error, never a silent cut.
inline constexpr std::size_t kMaximumGlobMatches = 10'000;

/// Matches that this error shows.
inline constexpr std::size_t kShownGlobMatches = 100;

inline constexpr std::chrono::seconds kGlobTimeLimit{60};

/// `glob`: names that match a pattern (see glob_pattern.h), newest first, ties by name.
///
/// The names that a pattern begins with pass the path rules like the path itself. So an absolute
/// pattern is allowed if its directory is; with a `path` it must lie below that. Links that
/// wildcards match are returned, not followed.
/// A pattern for the names of single directories ("*.txt", "src/*.cc") is matched over SFTP
/// listings and starts no process; times then count in whole seconds. Round trips: two for a path
/// without links, the path rules' and the listing. Each further directory that the pattern begins
/// with takes one more, or two if it is listed over SFTP.
class GlobTool : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  explicit GlobTool(WorkspaceSource& workspaces) : workspaces_(workspaces) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
};

}  // namespace tools
