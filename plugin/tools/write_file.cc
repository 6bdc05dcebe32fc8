#include "tools/write_file.h"

#include <string>
#include <string_view>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "support/errors.h"
#include "support/utf8.h"
#include "tools/contract.h"

namespace tools {
namespace {

bool HasReplacementCharacters(std::string_view content) {
  return content.find(support::kReplacementCharacter) != std::string_view::npos;
}

}  // namespace

void RefuseReplacementCharacters(const paths::ResolvedPath& path, std::string_view content,
                                 std::string_view bytes) {
  if (!HasReplacementCharacters(content) || support::IsValidUtf8(bytes)) return;
  throw support::CallError(
      path.host +
      " is not UTF-8, and the new text contains U+FFFD, which read_file shows in place of invalid "
      "bytes: writing it would lose those bytes. Nothing was written. Change the file with "
      "run_shell_command (sed, iconv), or leave U+FFFD out.");
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
        paths::ResolvedPath path;
        try {
          path = workspace.paths->Resolve(call.arguments.at("path").get<std::string>(),
                                          paths::Access::kWrite, *workspace.guest, context);
          const auto lock = writer_->Lock(path, context);
          if (path.attributes && HasReplacementCharacters(content)) {
            files::FileReader old_file(path, *workspace.guest, context);
            RefuseReplacementCharacters(path, content, old_file.ReadWhole());
          }
          AddNote(result, writer_->Write(path, content, *workspace.guest, context));
        } catch (const guest::FileError& error) {
          files::ThrowFileProblem(error, "write", path, content.size(), *workspace.guest, context);
        }
        return result;
      });
}

}  // namespace tools
