#include "tools/write_file.h"

#include <string>
#include <string_view>

#include "support/errors.h"
#include "support/utf8.h"
#include "tools/contract.h"
#include "tools/file_call.h"
#include "tools/file_content.h"

namespace tools {

namespace {

bool HoldsReplacementCharacters(std::string_view content) {
  return content.find(support::kReplacementCharacter) != std::string_view::npos;
}

[[noreturn]] void ThrowWouldLoseBytes(const ResolvedPath& path) {
  throw support::CallError(
      path.host +
      " is not UTF-8, and the new text holds U+FFFD, which read_file shows in place of bytes that "
      "it cannot: writing it would lose those bytes. Nothing was written. Change the file with "
      "run_shell_command (sed, iconv), or leave U+FFFD out.");
}

}  // namespace

void RefuseReplacementCharacters(const ResolvedPath& path, std::string_view content,
                                 guest::Guest& guest, const support::Context& context) {
  if (!path.attributes || !HoldsReplacementCharacters(content)) return;
  const OpenedFile opened = OpenRegularFile(path, guest::OpenMode::kRead, guest, context);
  if (!IsUtf8File(opened, context)) ThrowWouldLoseBytes(path);
}

void RefuseReplacementCharacters(const ResolvedPath& path, std::string_view content,
                                 std::string_view bytes) {
  if (HoldsReplacementCharacters(content) && !support::IsValidUtf8(bytes)) {
    ThrowWouldLoseBytes(path);
  }
}

const mcp::ToolDefinition& WriteFileTool::definition() const {
  return Definition("write_file");
}

mcp::ToolResult WriteFileTool::Call(const mcp::ToolCall& call) {
  const auto& content = call.arguments.at("content").get_ref<const std::string&>();
  const support::Context context = call.context.WithTimeout(kFileToolTimeLimit);
  return WithWorkspace(
      workspaces_, context, call.progress, [&](const Workspace& workspace) -> mcp::ToolResult {
        mcp::ToolResult result = {.structured = nlohmann::json::object()};
        ResolvedPath path;
        try {
          path = workspace.paths->Resolve(call.arguments.at("path").get<std::string>(),
                                          Access::kWrite, *workspace.guest, context);
          const PathLocks::Lock lock = writer_->Lock(path, context);
          RefuseReplacementCharacters(path, content, *workspace.guest, context);
          AddNote(result, writer_->Write(path, content, *workspace.guest, context));
        } catch (const guest::FileError& error) {
          ThrowFileProblem(error, "write", path, content.size(), *workspace.guest, context);
        }
        return result;
      });
}

}  // namespace tools
