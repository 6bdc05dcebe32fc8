#include "tools/workspace.h"

#include <string>

#include "support/errors.h"
#include "support/log.h"
#include "support/utf8.h"

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
    // Outside the try block: whether to connect once more is decided where connections are made.
    const Workspace workspace = source.Acquire(context, progress);
    try {
      return work(workspace);
    } catch (const support::ConnectionLost& lost) {
      if (lost.may_have_run() || attempt == kMaximumAttempts) throw;
      support::LogInfo(std::string("a call is repeated: ") + lost.what());
      earlier_loss = lost.what();
    } catch (const support::Stopped& stopped) {
      // "timed out" alone would hide that the guest does not answer.
      if (stopped.reason() != support::StopReason::kDeadline || earlier_loss.empty()) throw;
      throw support::CallError(earlier_loss +
                               "; it was tried again until the time of the call was over");
    }
  }
}

}  // namespace tools
