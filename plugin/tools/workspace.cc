#include "tools/workspace.h"

#include "files/file_problem.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/utf8.h"
#include "tools/text_results.h"

namespace tools {

void AddNote(mcp::ToolResult& result, std::string_view note) {
  if (note.empty()) return;
  result.more_content.push_back({{"type", "text"}, {"text", support::ToUtf8(note)}});
}

mcp::ToolResult WithWorkspace(WorkspaceSource& source, const support::Context& context,
                              mcp::ProgressReporter& progress,
                              const std::function<mcp::ToolResult(const Workspace&)>& work) {
  std::string earlier_loss;
  for (int attempt = 1;; ++attempt) {
    // Outside the try block: a failed connect is not retried here.
    const Workspace workspace = source.Acquire(context, progress);
    try {
      return work(workspace);
    } catch (const support::ConnectionLost& lost) {
      if (lost.may_have_run() || attempt == kMaximumAttempts) throw;
      support::LogInfo(std::string("retrying a call: ") + lost.what());
      earlier_loss = lost.what();
    } catch (const support::Stopped& stopped) {
      // "timed out" alone would hide that the guest does not answer.
      if (stopped.reason() != support::StopReason::kDeadline || earlier_loss.empty()) throw;
      throw support::CallError(earlier_loss + "; the retry timed out");
    }
  }
}

mcp::ToolResult WithFile(WorkspaceSource& source, const mcp::ToolCall& call, paths::Access access,
                         const std::string& action,
                         const std::function<mcp::ToolResult(FileCall&)>& work) {
  const support::Context context = call.context.WithTimeout(kFileToolTimeLimit);
  return WithWorkspace(source, context, call.progress, [&](const Workspace& workspace) {
    FileCall file = {workspace, context};
    const auto path = call.arguments.at("path").get<std::string>();
    try {
      try {
        file.path = workspace.paths->Resolve(path, access, *workspace.guest, context);
        return work(file);
      } catch (const guest::FileError& error) {
        files::ThrowFileProblem(error, action, file.path, file.needed_bytes, *workspace.guest,
                                context);
      }
    } catch (const files::PathlessError& error) {
      if (!WantsText(call)) throw;
      throw support::CallError(std::string(error.what()) + ": " + path);
    }
  });
}

mcp::ToolResult WithTimeLimit(
    WorkspaceSource& source, const mcp::ToolCall& call, const std::string& what,
    std::chrono::seconds limit,
    const std::function<mcp::ToolResult(const Workspace&, const support::Context&)>& work) {
  const support::Context context = call.context.WithTimeout(limit);
  try {
    return WithWorkspace(source, context, call.progress,
                         [&](const Workspace& workspace) { return work(workspace, context); });
  } catch (const support::Stopped& stopped) {
    const bool limit_passed = stopped.reason() == support::StopReason::kDeadline &&
                              call.context.stop_reason() == support::StopReason::kNone;
    if (!limit_passed) throw;
    throw support::CallError(what + " took longer than " + std::to_string(limit.count()) +
                             " s and was stopped. Give a path deeper in the tree or a more "
                             "specific pattern.");
  }
}

std::optional<std::string> OptionalText(const nlohmann::json& arguments, const char* property) {
  const auto found = arguments.find(property);
  if (found == arguments.end() || found->is_null()) return std::nullopt;
  return found->get<std::string>();
}

}  // namespace tools
