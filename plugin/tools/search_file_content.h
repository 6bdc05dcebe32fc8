#pragma once

#include <chrono>
#include <cstddef>

#include "mcp/tool.h"
#include "shell/capped_output.h"
#include "tools/workspace.h"

namespace tools {

/// Bytes of a search pattern.
inline constexpr std::size_t kMaximumSearchPattern = std::size_t{16} << 10;

/// `search_file_content`: lines that match a regular expression, as `git grep -n` prints them, with
/// names relative to the searched directory. `path` may also name one file, which is searched even
/// if git ignores it. Round trips: two for a path without links, the path rules' and the search;
/// more as content_search.h says.
class SearchFileContentTool : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  explicit SearchFileContentTool(WorkspaceSource& workspaces,
                                 std::size_t maximum_output_bytes = shell::kDefaultMaximumOutput,
                                 std::chrono::seconds time_limit = std::chrono::seconds(60))
      : workspaces_(workspaces),
        maximum_output_bytes_(maximum_output_bytes),
        time_limit_(time_limit) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  std::size_t maximum_output_bytes_;
  std::chrono::seconds time_limit_;
};

}  // namespace tools
