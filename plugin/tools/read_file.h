#pragma once

#include <cstdint>

#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Larger images are refused: clients send them to a model, which takes no larger ones.
inline constexpr std::uint64_t kMaximumImageBytes = std::uint64_t{5} << 20;

/// `read_file`: the text of a regular file, or an image; content_type.h says what is text.
/// Round trips for a path without links: three (path rules; open; stat, read and close). A file of
/// kReadChunk or more takes four, a range of it one for each kReadChunk up to the range's end.
class ReadFileTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  explicit ReadFileTool(WorkspaceSource& workspaces) : workspaces_(workspaces) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
};

}  // namespace tools
