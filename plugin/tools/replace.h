#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "files/file_content.h"
#include "files/file_writer.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// The limit for the file and for the result: `replace` must be able to read what it wrote.
inline constexpr std::uint64_t kMaximumReplaceBytes = files::kMaximumReadBytes;

/// How often `replace` tries with a file that something else is changing.
inline constexpr int kMostTries = 3;

/// `replace`: a piece of a file's text, once or everywhere (text_replacement.h says what matches).
/// The file is written as by write_file (file_writer.h); an error leaves it untouched. If the file
/// changes after it was read, everything is repeated, kMostTries times in all, so that the other
/// change stays. SFTP does not show a change within the same second and size, nor one in the round
/// trip between the last look and the rename.
///
/// Round trips for a path without links: seven (three as read_file; three of FileWriter::Write; the
/// last look).
class ReplaceTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool. The tools that write share one writer.
  explicit ReplaceTool(WorkspaceSource& workspaces, std::shared_ptr<files::FileWriter> writer =
                                                        std::make_shared<files::FileWriter>())
      : workspaces_(workspaces), writer_(std::move(writer)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  std::shared_ptr<files::FileWriter> writer_;
};

}  // namespace tools
