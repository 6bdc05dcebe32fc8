// SPDX-License-Identifier: Apache-2.0
#include "tools/task.h"

#include <utility>

#include "files/file_problem.h"
#include "lima/sandbox.h"
#include "support/format.h"
#include "support/log.h"
#include "support/units.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::Error;
using support::Format;

std::string GuestAdvice(const Toolbox& toolbox) {
  return Format("Try run_shell_command ([\"df\"]); if that hangs too, the user runs `{}`.",
                lima::ForcedRestartCommand(toolbox.options.instance));
}

std::string TookLonger(const Toolbox& toolbox, const std::string& what, const std::string& advice) {
  return Format("{} took longer than {} and was stopped. {}", what,
                support::FormatDuration(toolbox.options.time_limit), advice);
}

}  // namespace

const Workspace& Task::workspace() {
  if (!workspace_) workspace_ = toolbox.workspaces.Acquire(context, call.progress);
  return *workspace_;
}

void Task::LimitTime(std::string when_late) {
  context = context.WithTimeout(toolbox.options.time_limit);  // the earlier of two
  when_late_ = std::move(when_late);
}

FileTarget& Task::ResolveFile(paths::Access access, const std::string& action) {
  const auto path = call.arguments.at("path").get<std::string>();
  const char* const again =
      access == paths::Access::kWrite ? "It may have changed: read it before you try again. " : "";
  LimitTime(TookLonger(toolbox, Format("{} {}", action, path), again + GuestAdvice(toolbox)));
  const Workspace& now = workspace();
  file_ = {.action = action};
  file_->path = now.paths->Resolve(path, access, *now.guest, context);
  return *file_;
}

void Task::LimitSearch() {
  LimitTime(TookLonger(
      toolbox, Format("The search in {}", call.arguments.value("path", "the working directory")),
      "Give a path deeper in the tree or a more specific pattern."));
}

std::string Task::PathOrDefault() {
  const auto path = call.arguments.find("path");
  return path == call.arguments.end() ? workspace().paths->DefaultDirectory()
                                      : path->get<std::string>();
}

std::string Task::ResolveDirectory() {
  const auto path = call.arguments.at("directory").get<std::string>();
  const Workspace& now = workspace();
  if (!resolving_) resolving_ = context.WithTimeout(toolbox.options.time_limit);
  call.progress.SetStatus("waiting for the guest to resolve the directory");
  try {
    std::string directory =
        now.paths->Resolve(path, paths::Access::kRead, *now.guest, *resolving_).guest;
    resolving_.reset();
    return directory;
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() != support::StopReason::kDeadline) throw;
    throw Error("The directory {} was not resolved in time; nothing was run. {}", path,
                GuestAdvice(toolbox));
  }
}

void Task::TryAgain(const support::ConnectionLost& lost) {
  const bool is_connecting = !workspace_;  // that has retries of its own
  if (is_connecting || lost.may_have_run() || attempt_ == kMaxAttempts) throw;
  support::LogInfo(Format("retrying a call: {}", lost.what()));
  earlier_loss_ = lost.what();
  workspace_.reset();
  file_.reset();
  ++attempt_;
}

void Task::Explain(const support::Stopped& stopped) const {
  if (stopped.reason() != support::StopReason::kDeadline) throw;
  if (!earlier_loss_.empty()) throw Error("{}; the retry timed out", earlier_loss_);
  if (when_late_.empty()) throw;
  throw Error(when_late_);
}

void Task::Explain(const guest::FileError& error) const {
  if (!file_) throw;
  files::ThrowFileProblem(error, file_->action, file_->path, file_->needed_bytes,
                          *workspace_->guest, context);
}

mcp::ToolResult Perform(Toolbox& toolbox, const mcp::ToolCall& call,
                        const std::function<mcp::ToolResult(Task&)>& tool) try {
  Task task(toolbox, call);
  for (;;) {
    try {
      return tool(task);
    } catch (const support::ConnectionLost& lost) {
      task.TryAgain(lost);
    } catch (const support::Stopped& stopped) {
      task.Explain(stopped);
    } catch (const guest::FileError& error) {
      task.Explain(error);
    }
  }
} catch (const files::PathlessError& error) {
  if (call.format.style != mcp::ResultStyle::kText) throw;
  throw Error("{}: {}", error.what(), call.arguments.at("path").get<std::string>());
}

}  // namespace tools
