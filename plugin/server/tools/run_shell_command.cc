// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "lima/sandbox.h"
#include "shell/command_output.h"
#include "shell/resident_script.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/units.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::Format;

std::string DescribeMissingShell(const std::string& shell, const std::string& instance) {
  return Format(
      ": the guest has no {}, which the instance's configuration (or Lima's default) names as the "
      "user's shell. Install it in the guest, or name another one: on the host, {}",
      shell, lima::EditCommands(instance, " --set '.user.shell = \"/bin/sh\"'"));
}

End EndOf(const shell::RunEnd& end, const Command& command, const std::string& shell,
          const std::string& instance) {
  if (end.exit_signal) {
    return {std::nullopt, Format("the guest's shell that ran the command was killed by signal {}, "
                                 "so the exit code is unknown; the command may still run",
                                 *end.exit_signal)};
  }
  if (!end.exit_status) return {std::nullopt, "the guest did not report how the command ended"};
  if (!end.began && !end.shell_missing) {
    return {std::nullopt, Format("the command was not run: {}",
                                 shell::DescribeProfileFailure(shell, "ended or was replaced"))};
  }
  End outcome{end.exit_status, ""};
  const int status = *end.exit_status;
  if (status != 0) outcome.error = Format("exit status {}", status);
  if (end.shell_missing) {
    outcome.error += DescribeMissingShell(shell, instance);
  } else if (const std::string hint = ShellLineHint(status, command); !hint.empty()) {
    outcome.error += ": " + hint;
  }
  return outcome;
}

CommandEnd Run(const Command& command, const std::string& directory, Task& task) {
  const mcp::ToolCall& call = task.call;
  const Workspace& workspace = task.workspace();
  Toolbox& toolbox = task.toolbox;
  shell::CommandOutput output(
      LimitsFor(call.format).output_bytes, call.format.style == mcp::ResultStyle::kStructured,
      [&](std::string progress) { call.progress.SetStatus(std::move(progress)); });
  output.command = command.text;
  const auto make_result = [&](End end) -> CommandEnd {
    auto [standard_output, standard_error] = output.Finish(toolbox.cut_outputs);
    return {std::move(standard_output), std::move(standard_error), std::move(end)};
  };
  const auto stopped_result = [&](support::StopReason reason, const std::string& left) {
    std::string text = support::Describe(reason);
    if (reason == support::StopReason::kDeadline) {
      text += Format(" after {}", support::FormatDuration(toolbox.options.command_timeout));
    }
    return make_result({std::nullopt, Format("{}; {}", text, left)});
  };
  try {
    const shell::RunEnd end = workspace.guest->shells().RunCommand(
        {command.text, command.words.front(), directory, workspace.shell}, output, task.context);
    return make_result(EndOf(end, command, workspace.shell, toolbox.options.instance));
  } catch (const shell::StoppedCommand& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(stopped.reason(),
                          stopped.outcome().empty()
                              ? Format("it had not started: {}",
                                       shell::DescribeProfileFailure(workspace.shell, "was still"))
                              : stopped.outcome());
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(stopped.reason(), "it had not started");
  } catch (const support::ConnectionLost& lost) {
    if (!lost.may_have_run()) throw;
    return make_result({std::nullopt, lost.what()});
  }
}

}  // namespace

CommandEnd RunShellCommand(Task& task) {
  const Command command = ParseCommand(task.call.arguments);
  const std::chrono::milliseconds limit = task.toolbox.options.command_timeout;
  if (limit.count() > 0) task.context = task.context.WithTimeout(limit);
  const network::Denials& denials = *task.toolbox.options.denials;
  const std::size_t denied = denials.count();
  CommandEnd result = Run(command, task.ResolveDirectory(), task);
  result.notes = {command.note, denials.NoteSince(denied)};
  return result;
}

}  // namespace tools
