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
/// The names that a pattern begins with pass the path rules like the path itself, links included,
/// so an absolute pattern is allowed where its directory is; with a `path` it must lie below that.
/// Links that wildcards meet are names: they are returned, not followed, wherever they point.
/// A pattern whose names all lie in directories that it names ("*.txt", "src/*.cc") is matched over
/// SFTP listings, and starts no process; times then count in whole seconds. Round trips: two for a
/// path without links: the path rules' one, and the names (find) of all directories that the
/// pattern begins with; one more to look at each further one of those, two where they are listed.
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
