#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "files/file_writer.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Throws support::CallError when `content` holds U+FFFD and the file at `path` is not valid UTF-8:
/// what read_file showed in place of bad bytes must not overwrite them. Round trips: none without
/// U+FFFD, else open, stat, and the reads of IsUtf8File (a small file's comes with stat).
void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 guest::Guest& guest, const support::Context& context);

/// The same where the file's bytes are known: no round trip.
void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 std::string_view bytes);

/// `write_file`: a whole new content; FileWriter::Write says what is kept. Round trips for a path
/// without links: four, one of the path rules and three of FileWriter::Write.
class WriteFileTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool; the tools that write share one writer.
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
