#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "files/file_content.h"
#include "files/file_writer.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Neither the file nor the result may be larger: what `replace` has written it can open again.
inline constexpr std::uint64_t kMaximumReplaceBytes = files::kMaximumReadBytes;

/// How often a file is read and written anew that somebody else is changing.
inline constexpr int kMostTries = 3;

/// `replace`: a piece of a file's text, once or everywhere (text_replacement.h says what counts as
/// found). The new content takes the file's place as with write_file (file_writer.h); when
/// anything is wrong the file is untouched. Where somebody else writes to the file between the look
/// at its content and that moment, all is done again, kMostTries times in all, so that their
/// changes stay; what is written within a second, in the same size, cannot be seen over SFTP, nor
/// what is written in the round trip between the last look and the rename. Round trips: seven
/// for a path without links: as many as read_file, three of FileWriter::Write, and that last look.
class ReplaceTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool; the tools that write share one writer.
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
