#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "files/file_writer.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Throws support::CallError if `content` contains U+FFFD and the file's `bytes` are not valid
/// UTF-8: what read_file shows in place of invalid bytes must not overwrite them.
void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 std::string_view bytes);

/// `write_file`: a whole new content; FileWriter::Write says what is kept. Round trips for a path
/// without links: four (path rules; three of FileWriter::Write). If the content contains U+FFFD,
/// the existing file is read before: two more for a small file.
class WriteFileTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool. The tools that write share one writer.
  explicit WriteFileTool(WorkspaceSource& workspaces, std::shared_ptr<files::FileWriter> writer =
                                                          std::make_shared<files::FileWriter>())
      : workspaces_(workspaces), writer_(std::move(writer)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  std::shared_ptr<files::FileWriter> writer_;
};

}  // namespace tools
