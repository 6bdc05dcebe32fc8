#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/command_output.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/units.h"
#include "tools/command_arguments.h"
#include "tools/limits.h"
#include "tools/tools.h"

namespace tools {
namespace {

/// A shell reports a process that signal N killed with this plus N as exit status.
constexpr int kSignalBase = 128;

/// The signals that kill a process, by Linux's numbers. "": any other number.
std::string_view SignalName(int number) {
  constexpr std::array<std::string_view, 32> kNames{
      "",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT", "BUS", "FPE", "KILL", "USR1",
      "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "",     "",    "",    "",     "",
      "",     "",     "XCPU", "XFSZ", "VTALRM", "PROF",   "",     "IO",  "PWR", "SYS"};
  const auto index = static_cast<std::size_t>(number);
  return number > 0 && index < kNames.size() ? kNames.at(index) : "";
}

std::string DescribeMissingShell(const std::string& shell) {
  return ": the guest has no " + shell +
         ", which the instance's configuration (or Lima's default) names as the user's shell. "
         "Install it in the guest, or name another one: on the host, limactl stop INSTANCE, then "
         "limactl edit INSTANCE --set '.user.shell = \"/bin/sh\"' --start";
}

End EndOf(const shell::RunEnd& end, const Command& command, const std::string& shell) {
  if (end.exit_signal) {
    return {std::nullopt, "the guest's shell that ran the command was killed by signal " +
                              *end.exit_signal +
                              ", so the exit code is unknown; the command may still run"};
  }
  if (!end.exit_status) return {std::nullopt, "the guest did not report how the command ended"};
  End outcome{end.exit_status, ""};
  const int status = *end.exit_status;
  if (const std::string_view name = SignalName(status - kSignalBase); !name.empty()) {
    outcome.error = "signal: " + std::string(name);
  } else if (status != 0) {
    outcome.error = "exit status " + std::to_string(status);
  }
  if (end.shell_missing) {
    outcome.error += DescribeMissingShell(shell);
  } else if (const std::string hint = ShellLineHint(status, command); !hint.empty()) {
    outcome.error += ": " + hint;
  }
  return outcome;
}

std::string DescribeStop(support::StopReason reason, std::chrono::milliseconds limit) {
  const bool is_limit = reason == support::StopReason::kDeadline && limit.count() > 0;
  return support::Describe(reason) + (is_limit ? " after " + support::FormatDuration(limit) : "");
}

CommandEnd Run(guest::Guest& guest, const Command& command, const std::string& directory,
               const std::string& shell, Toolbox& toolbox, const support::Context& context,
               const mcp::ToolCall& call) {
  shell::CommandOutput output(
      LimitsFor(call.format, toolbox.options).output_bytes,
      [&](std::string progress) { call.progress.SetStatus(std::move(progress)); });
  const auto make_result = [&](End end) -> CommandEnd {
    auto [standard_output, standard_error] = output.Finish(toolbox.cut_outputs);
    return {std::move(standard_output), std::move(standard_error), std::move(end)};
  };
  const auto stopped_result = [&](support::StopReason reason, const std::string& left) {
    return make_result(
        {std::nullopt, DescribeStop(reason, toolbox.options.command_timeout) + "; " + left});
  };
  try {
    const shell::RunEnd end =
        guest.RunCommand({command.text, command.words.front(), directory, shell}, output, context);
    return make_result(EndOf(end, command, shell));
  } catch (const shell::StoppedCommand& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(
        stopped.reason(),
        stopped.verified() ? "its processes have been stopped"
                           : "its processes were signalled, but the guest has not confirmed that "
                             "they are gone: check it");
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(stopped.reason(), "it had not started");
  } catch (const support::ConnectionLost& lost) {
    if (!lost.may_have_run()) throw;
    return make_result({std::nullopt, lost.what()});
  }
}

}  // namespace

CommandEnd RunShellCommand(Toolbox& toolbox, const mcp::ToolCall& call) {
  const Command command = ParseCommand(call.arguments);
  const auto path = call.arguments.at("directory").get<std::string>();
  const std::chrono::milliseconds limit = toolbox.options.command_timeout;
  const support::Context context =
      limit.count() > 0 ? call.context.WithTimeout(limit) : call.context;
  // A command may take long; resolving its directory may not, over all attempts together. The time
  // starts once there is a connection: with `--start`, the VM boots first.
  std::optional<support::Context> resolving;
  CommandEnd result;
  WithWorkspace(toolbox.workspaces, context, call.progress, [&](const Workspace& workspace) {
    if (!resolving) resolving = context.WithTimeout(toolbox.options.time_limit);
    const std::string directory = ResolveDirectory(path, workspace, *resolving, call.progress);
    resolving.reset();  // the guest has answered
    result = Run(*workspace.guest, command, directory, workspace.shell, toolbox, context, call);
  });
  return result;
}

}  // namespace tools
