// SPDX-License-Identifier: Apache-2.0
#include "tools/workspace.h"

#include "files/file_problem.h"
#include "lima/sandbox.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/units.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::Format;

std::string GuestAdvice(const Toolbox& toolbox) {
  return Format("Try run_shell_command ([\"df\"]); if that hangs too, the user runs `{}`.",
                lima::ForcedRestartCommand(toolbox.options.instance));
}

/// WithWorkspace within ToolOptions::time_limit.
void WithTimeLimit(Toolbox& toolbox, const mcp::ToolCall& call, const std::string& what,
                   const std::string& advice, const LimitedWork& work) {
  const std::chrono::milliseconds limit = toolbox.options.time_limit;
  const support::Context context = call.context.WithTimeout(limit);
  InTime(Format("{} took longer than {} and was stopped. {}", what, support::FormatDuration(limit),
                advice),
         [&] {
           WithWorkspace(toolbox.workspaces, context, call.progress,
                         [&](const Workspace& workspace) { work(workspace, context); });
         });
}

}  // namespace

void InTime(const std::string& error, const std::function<void()>& work) {
  try {
    work();
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() != support::StopReason::kDeadline) throw;
    throw support::Error(error);
  }
}

void WithWorkspace(WorkspaceSource& source, const support::Context& context,
                   mcp::ProgressReporter& progress,
                   const std::function<void(const Workspace&)>& work) {
  std::string earlier_loss;
  for (int attempt = 1;; ++attempt) {
    // Outside the try block: a failed connect is not retried here.
    const Workspace workspace = source.Acquire(context, progress);
    try {
      if (earlier_loss.empty()) return work(workspace);
      return InTime(Format("{}; the retry timed out", earlier_loss), [&] { work(workspace); });
    } catch (const support::ConnectionLost& lost) {
      if (lost.may_have_run() || attempt == kMaxAttempts) throw;
      support::LogInfo(Format("retrying a call: {}", lost.what()));
      earlier_loss = lost.what();
    }
  }
}

void WithCommand(Toolbox& toolbox, const mcp::ToolCall& call, const support::Context& context,
                 bool limits_work, const std::function<void(const CommandCall&)>& work) {
  const auto path = call.arguments.at("directory").get<std::string>();
  std::optional<support::Context> limited;
  WithWorkspace(toolbox.workspaces, context, call.progress, [&](const Workspace& workspace) {
    if (!limited) limited = context.WithTimeout(toolbox.options.time_limit);
    call.progress.SetStatus("waiting for the guest to resolve the directory");
    std::string directory;
    InTime(Format("The directory {} was not resolved in time; nothing was run. {}", path,
                  GuestAdvice(toolbox)),
           [&] {
             directory =
                 workspace.paths->Resolve(path, paths::Access::kRead, *workspace.guest, *limited)
                     .guest;
           });
    const support::Context left = limits_work ? *limited : context;
    if (!limits_work) limited.reset();
    work({workspace, left, std::move(directory)});
  });
}

void WithFile(Toolbox& toolbox, const mcp::ToolCall& call, paths::Access access,
              const std::string& action, const std::function<void(FileCall&)>& work) {
  const auto path = call.arguments.at("path").get<std::string>();
  const std::string advice =
      access == paths::Access::kWrite ? "It may have changed: read it before you try again. " : "";
  WithTimeLimit(toolbox, call, Format("{} {}", action, path), advice + GuestAdvice(toolbox),
                [&](const Workspace& workspace, const support::Context& context) {
                  FileCall file = {workspace, context};
                  try {
                    file.path = workspace.paths->Resolve(path, access, *workspace.guest, context);
                    work(file);
                  } catch (const guest::FileError& error) {
                    files::ThrowFileProblem(error, action, file.path, file.needed_bytes,
                                            *workspace.guest, context);
                  }
                });
}

std::string PathOf(const mcp::ToolCall& call, const Workspace& workspace) {
  const auto path = call.arguments.find("path");
  if (path == call.arguments.end()) return workspace.paths->DefaultDirectory();
  return path->get<std::string>();
}

void WithSearch(Toolbox& toolbox, const mcp::ToolCall& call, const LimitedWork& work) {
  WithTimeLimit(toolbox, call,
                Format("The search in {}", call.arguments.value("path", "the working directory")),
                "Give a path deeper in the tree or a more specific pattern.", work);
}

}  // namespace tools
