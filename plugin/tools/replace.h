#pragma once

#include <cstdint>

#include "mcp/tool.h"
#include "tools/file_content.h"
#include "tools/workspace.h"

namespace tools {

/// Neither the file nor the result may be larger: what `replace` has written it can open again.
inline constexpr std::uint64_t kMaximumReplaceBytes = kMaximumReadBytes;

/// `replace`: a piece of a file's text, once or everywhere (text_replacement.h says what counts as
/// found). The new content takes the file's place as with write_file (atomic_write.h); when
/// anything is wrong the file is untouched. Round trips: the path rules', open, stat and read, and
/// those of WriteWhole.
class ReplaceTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  explicit ReplaceTool(WorkspaceSource& workspaces) : workspaces_(workspaces) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
};

}  // namespace tools
