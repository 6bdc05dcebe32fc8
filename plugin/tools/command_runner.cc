#include "tools/command_runner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "shell/command_output.h"
#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/units.h"

namespace tools {
namespace {

constexpr int kCommandNotFound = 127;

/// A shell tells of a process that signal N has ended as of one with this and N as exit status.
constexpr int kSignalBase = 128;

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

/// The signals that end a process, by Linux's numbers. Empty: none of them.
std::string_view SignalName(int number) {
  constexpr std::array<std::string_view, 32> kNames{
      "",     "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT", "BUS", "FPE", "KILL", "USR1",
      "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "",     "",    "",    "",     "",
      "",     "",     "XCPU", "XFSZ", "VTALRM", "PROF",   "",     "IO",  "PWR", "SYS"};
  const auto place = static_cast<std::size_t>(number);
  return number > 0 && place < kNames.size() ? kNames.at(place) : "";
}

/// One word that holds what only a shell would take apart: the list was probably meant as a line.
bool LooksLikeShellLine(const std::vector<std::string>& words) {
  return words.size() == 1 &&
         words.front().find_first_of(" \t\n|&;<>()$`\\\"'*?[]{}#~!") != std::string::npos;
}

/// How a command ended, as the output schema has it.
struct Outcome {
  std::optional<int> exit_code;
  std::string error;  ///< empty: nothing to say
};

std::string DescribeMissingShell(const std::string& shell) {
  return ": the guest has no " + shell +
         ", which the instance's configuration (or Lima's default) has as the user's shell: "
         "install it in the guest, or name one that is there: on the host, limactl stop INSTANCE, "
         "then limactl edit INSTANCE --set '.user.shell = \"/bin/sh\"' --start";
}

Outcome OutcomeOf(const shell::RunEnd& end, const CommandRequest& request) {
  if (end.exit_signal) {
    return {std::nullopt, "the guest's shell that ran the command was ended by signal " +
                              *end.exit_signal + ", and took the exit code with it"};
  }
  if (!end.exit_status) return {std::nullopt, "the guest did not say how the command ended"};
  Outcome outcome{end.exit_status, ""};
  const int status = *end.exit_status;
  if (const std::string_view name = SignalName(status - kSignalBase); !name.empty()) {
    outcome.error = "signal: " + std::string(name);
  } else if (status != 0) {
    outcome.error = "exit status " + std::to_string(status);
  }
  if (end.shell_missing) {
    outcome.error += DescribeMissingShell(request.shell);
  } else if (status == kCommandNotFound && LooksLikeShellLine(request.words)) {
    outcome.error += ": command is a list of words, not a line for a shell; use " +
                     nlohmann::json{"bash", "-c", request.words.front()}.dump(
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

}  // namespace

support::Context CommandRunner::WithTimeLimit(const support::Context& context) const {
  return options_.command_timeout.count() > 0 ? context.WithTimeout(options_.command_timeout)
                                              : context;
}

mcp::ToolResult CommandRunner::Run(guest::Guest& guest, const CommandRequest& request,
                                   const support::Context& call_context,
                                   mcp::ProgressReporter& progress) {
  const support::Context context = WithTimeLimit(call_context);
  const shell::LoginCommand command{CommandForShell(request.words), request.words.front(),
                                    request.directory, request.shell};
  shell::CommandOutput output(options_.maximum_output_bytes);
  ShownOutput shown(output, progress);
  const auto stopped_result = [&](support::StopReason reason, const std::string& left) {
    return MakeResult(output,
                      {std::nullopt, DescribeStop(reason, options_.command_timeout) + "; " + left});
  };
  try {
    return MakeResult(output, OutcomeOf(guest.RunCommand(command, shown, context), request));
  } catch (const shell::StoppedCommand& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(stopped.reason(),
                          stopped.verified()
                              ? "its processes have been ended"
                              : "its processes were told to end, but the guest has not confirmed "
                                "that they did: check that they are gone");
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return stopped_result(stopped.reason(), "it had not begun");
  } catch (const support::ConnectionLost& lost) {
    if (!lost.may_have_run()) throw;
    return MakeResult(output, {std::nullopt, lost.what()});
  }
}

}  // namespace tools
