#pragma once

#include <cstdint>

#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// An image above this is not handed out: clients send images to a model, which takes no larger
/// ones.
inline constexpr std::uint64_t kMaximumImageBytes = std::uint64_t{5} << 20;

/// `read_file`: the text of a regular file, or an image. See content_type.h for what is text.
/// Round trips: three for a path without links: the path rules' one, open, and stat, read and close
/// at once. A file of kReadChunk or more is read by itself: four, and with a range one for each
/// kReadChunk up to the range's end (file_content.h).
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
