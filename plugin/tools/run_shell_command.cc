#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command_output.h"
#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/units.h"
#include "tools/tools.h"

namespace tools {
namespace {

constexpr int kCommandNotFound = 127;

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

/// One word with characters for a shell: the list was probably meant as a line.
bool LooksLikeShellLine(const std::vector<std::string>& words) {
  return words.size() == 1 &&
         words.front().find_first_of(" \t\n|&;<>()$`\\\"'*?[]{}#~!") != std::string::npos;
}

struct Outcome {
  std::optional<int> exit_code;
  std::string error;  ///< empty: none
};

std::string DescribeMissingShell(const std::string& shell) {
  return ": the guest has no " + shell +
         ", which the instance's configuration (or Lima's default) names as the user's shell. "
         "Install it in the guest, or name another one: on the host, limactl stop INSTANCE, then "
         "limactl edit INSTANCE --set '.user.shell = \"/bin/sh\"' --start";
}

Outcome OutcomeOf(const shell::RunEnd& end, const std::vector<std::string>& words,
                  const std::string& shell) {
  if (end.exit_signal) {
    return {std::nullopt, "the guest's shell that ran the command was killed by signal " +
                              *end.exit_signal + ", so the exit code is unknown"};
  }
  if (!end.exit_status) return {std::nullopt, "the guest did not report how the command ended"};
  Outcome outcome{end.exit_status, ""};
  const int status = *end.exit_status;
  if (const std::string_view name = SignalName(status - kSignalBase); !name.empty()) {
    outcome.error = "signal: " + std::string(name);
  } else if (status != 0) {
    outcome.error = "exit status " + std::to_string(status);
  }
  if (end.shell_missing) {
    outcome.error += DescribeMissingShell(shell);
  } else if (status == kCommandNotFound && LooksLikeShellLine(words)) {
    outcome.error += ": command is a list of words, not a shell line; use " +
                     nlohmann::json{"bash", "-c", words.front()}.dump(
                         -1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return outcome;
}

std::string DescribeStop(support::StopReason reason, std::chrono::milliseconds limit) {
  if (reason != support::StopReason::kDeadline || limit.count() == 0) {
    return support::Describe(reason);
  }
  return support::Describe(reason) + " after " + support::FormatDuration(limit);
}

/// Keeps the status of the call up to date while its output comes.
class ShownOutput final : public shell::OutputSink {
 public:
  ShownOutput(shell::CommandOutput& output, mcp::ProgressReporter& progress)
      : output_(output), progress_(progress) {
    Show();
  }

  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    const bool wants_more = output_.OnOutput(stream, bytes);
    Show();
    return wants_more;
  }
  void OnQueued() override {
    output_.OnQueued();
    Show();
  }
  void OnStarted() override {
    output_.OnStarted();
    Show();
  }

 private:
  void Show() { progress_.SetStatus(output_.Describe()); }

  shell::CommandOutput& output_;
  mcp::ProgressReporter& progress_;
};

mcp::ToolResult MakeResult(const shell::CommandOutput& output, const Outcome& outcome) {
  mcp::ToolResult result;
  result.structured = {{"stdout", output.StandardOutput()}, {"stderr", output.StandardError()}};
  if (outcome.exit_code) result.structured["exit_code"] = *outcome.exit_code;
  if (!outcome.error.empty()) result.structured["error"] = outcome.error;
  return result;
}

std::vector<std::string> CommandArgument(const nlohmann::json& arguments) {
  auto command = arguments.at("command").get<std::vector<std::string>>();
  if (command.empty()) {
    throw support::CallError(
        "command is an empty list: give the program and its arguments, such as [\"ls\",\"-l\"]");
  }
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].find('\0') != std::string::npos) {
      throw support::CallError("command[" + std::to_string(i) +
                               "] contains a NUL character, which no argument can");
    }
  }
  return command;
}

std::string CommandForShell(const std::vector<std::string>& words) {
  std::string command = shell::ShellCommand(words);
  if (command.size() > kMaximumShellCommand) {
    throw support::CallError("argument list too long: the command takes " +
                             std::to_string(command.size()) +
                             " bytes when quoted for the guest's shell, which accepts at most " +
                             std::to_string(kMaximumShellCommand) +
                             ". Write long text to a file with write_file and name the file.");
  }
  return command;
}

mcp::ToolResult Run(guest::Guest& guest, const std::vector<std::string>& words,
                    const std::string& directory, const std::string& shell,
                    const ToolOptions& options, const support::Context& context,
                    mcp::ProgressReporter& progress) {
  shell::CommandOutput output(options.maximum_output_bytes);
  ShownOutput shown(output, progress);
  const auto stopped_result = [&](support::StopReason reason, const std::string& left) {
    return MakeResult(output,
                      {std::nullopt, DescribeStop(reason, options.command_timeout) + "; " + left});
  };
  try {
    const shell::RunEnd end =
        guest.RunCommand({CommandForShell(words), words.front(), directory, shell}, shown, context);
    return MakeResult(output, OutcomeOf(end, words, shell));
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
    return MakeResult(output, {std::nullopt, lost.what()});
  }
}

}  // namespace

mcp::ToolResult RunShellCommand(Toolbox& toolbox, const mcp::ToolCall& call) {
  const std::vector<std::string> words = CommandArgument(call.arguments);
  const auto directory = call.arguments.at("directory").get<std::string>();
  const ToolOptions& options = toolbox.options;
  support::Context context = call.context;
  if (options.command_timeout.count() > 0) context = context.WithTimeout(options.command_timeout);
  // A command may take long; resolving its directory may not, over all attempts together. The time
  // starts once there is a connection: with `--start`, the VM boots first.
  std::optional<support::Context> resolving;
  return WithWorkspace(toolbox.workspaces, context, call.progress, [&](const Workspace& workspace) {
    if (!resolving) resolving = context.WithTimeout(kFileToolTimeLimit);
    call.progress.SetStatus("waiting for the guest to resolve the directory");
    const paths::ResolvedPath resolved =
        workspace.paths->Resolve(directory, paths::Access::kRead, *workspace.guest, *resolving);
    resolving.reset();  // the guest has answered
    return Run(*workspace.guest, words, resolved.guest, workspace.shell, options, context,
               call.progress);
  });
}

}  // namespace tools
