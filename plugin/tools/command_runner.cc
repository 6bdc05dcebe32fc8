#include "tools/command_runner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"
#include "tools/command_output.h"
#include "tools/command_script.h"
#include "tools/mark.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

constexpr int kCommandNotFound = 127;

std::string CommandForShell(const std::vector<std::string>& words) {
  std::string command = ShellCommand(words);
  if (command.size() > kMaximumShellCommand) {
    throw support::CallError("argument list too long: the command takes " +
                             std::to_string(command.size()) +
                             " bytes when quoted for the guest's shell, which accepts at most " +
                             std::to_string(kMaximumShellCommand) +
                             ". Write long text to a file with write_file and name the file.");
  }
  return command;
}

/// Linux's numbers of the signals that SSH names (RFC 4254, section 6.10).
std::optional<int> SignalNumber(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, int>, 13> kSignals{{{"HUP", 1},
                                                                       {"INT", 2},
                                                                       {"QUIT", 3},
                                                                       {"ILL", 4},
                                                                       {"ABRT", 6},
                                                                       {"FPE", 8},
                                                                       {"KILL", 9},
                                                                       {"USR1", 10},
                                                                       {"SEGV", 11},
                                                                       {"USR2", 12},
                                                                       {"PIPE", 13},
                                                                       {"ALRM", 14},
                                                                       {"TERM", 15}}};
  const auto* const found = std::find_if(kSignals.begin(), kSignals.end(),
                                         [&](const auto& signal) { return signal.first == name; });
  if (found == kSignals.end()) return std::nullopt;
  return found->second;
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

Outcome OutcomeOfSignal(const std::string& name) {
  const std::optional<int> number = SignalNumber(name);
  if (number) return {128 + *number, "signal: " + name};
  // OpenSSH sends "SIG@openssh.com" for all of them, and nobody else in the guest was told.
  return {std::nullopt,
          "signal: one that SSH has no name for, such as BUS, TRAP, SYS, XCPU or XFSZ; the guest "
          "does not say which"};
}

std::string DescribeMissingShell(const std::string& shell) {
  return ": the guest has no " + shell +
         ", which the instance's configuration (or Lima's default) has as the user's shell: "
         "install it in the guest, or name one that is there: on the host, limactl stop INSTANCE, "
         "then limactl edit INSTANCE --set '.user.shell = \"/bin/sh\"' --start";
}

Outcome OutcomeOf(const guest::CommandResult& result, const CommandRequest& request,
                  bool shell_missing) {
  if (result.exit_signal) return OutcomeOfSignal(*result.exit_signal);
  if (!result.exit_status) return {std::nullopt, "the guest did not say how the command ended"};
  Outcome outcome{result.exit_status, ""};
  if (*outcome.exit_code != 0) {
    outcome.error = "exit status " + std::to_string(*outcome.exit_code);
  }
  if (shell_missing) {
    outcome.error += DescribeMissingShell(request.shell);
  } else if (*outcome.exit_code == kCommandNotFound && LooksLikeShellLine(request.words)) {
    outcome.error += ": command is a list of words, not a line for a shell; use " +
                     nlohmann::json{"bash", "-c", request.words.front()}.dump(
                         -1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return outcome;
}

class IgnoredOutput final : public guest::OutputSink {
 public:
  bool OnOutput(guest::OutputStream, std::string_view) override { return true; }
};

/// Sees to it that nothing of a stopped command is left. Says what the agent should know.
std::string VerifyEnd(guest::Guest& guest, std::optional<long> process_group) {
  // It may have been asked to, and not have had the time to say so.
  if (!process_group) {
    return "the guest had not said that the command runs; if it was started, it was told to end";
  }
  guest::Command command;
  command.command_line = GroupEndScript(*process_group);
  command.turn = guest::Turn::kFirst;
  IgnoredOutput ignored;
  try {
    const guest::CommandResult result = guest.Run(
        command, ignored, support::Context().WithTimeout(CommandRunner::kVerificationTimeout));
    if (result.exit_status == 0) return "its processes have been ended";
    return "its process group " + std::to_string(*process_group) +
           " had to be killed once more; check that it is gone";
  } catch (const support::CallError& error) {
    return "the guest could not be asked whether its process group " +
           std::to_string(*process_group) + " has ended (" + error.what() + ")";
  }
}

std::string DescribeStop(support::StopReason reason, std::chrono::milliseconds limit) {
  if (reason != support::StopReason::kDeadline || limit.count() == 0) {
    return support::Describe(reason);
  }
  return support::Describe(reason) + " after " + support::FormatDuration(limit);
}

mcp::ToolResult MakeResult(const CommandOutput& output, const Outcome& outcome) {
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

ProgressTicker::Registration CommandRunner::Announce(mcp::ProgressReporter& progress,
                                                     std::string text) {
  return Tick(progress, [&progress, text = std::move(text)] { progress.Report(text); });
}

ProgressTicker::Registration CommandRunner::Tick(const mcp::ProgressReporter& progress,
                                                 std::function<void()> callback) {
  if (!progress.requested()) return {};
  try {
    return ticker_.Register(std::move(callback));
  } catch (const std::system_error& error) {
    // No reason not to run the command.
    support::LogWarning("no progress is told: this host allows no more threads (" +
                        error.code().message() + ")");
    return {};
  }
}

mcp::ToolResult CommandRunner::Run(guest::Guest& guest, const CommandRequest& request,
                                   const support::Context& call_context,
                                   mcp::ProgressReporter& progress) {
  const support::Context context = WithTimeLimit(call_context);
  WarmShells::Use warm_shells(warm_shells_, {&guest, request.directory, request.shell});
  if (const std::shared_ptr<WarmShell> shell = warm_shells.Take(context)) {
    const std::optional<mcp::ToolResult> result =
        Attend(guest, request, shell->output(), progress,
               [&] { return shell->Run(request.words, context); });
    if (result) return *result;
  }

  CommandScriptOptions script;
  script.command = CommandForShell(request.words);
  script.directory = request.directory;
  script.shell = request.shell;
  script.mark = MakeMark();

  CommandOutput output(script.mark, options_.maximum_output_bytes);
  guest::Command command = MakeCommandScript(script);
  command.turn = guest::Turn::kOpenEnded;
  command.stop_grace = kStopGrace;
  command.on_queued = [&output] { output.OnQueued(); };

  return *Attend(guest, request, output, progress,
                 [&] { return std::optional(guest.Run(command, output, context)); });
}

std::optional<mcp::ToolResult> CommandRunner::Attend(
    guest::Guest& guest, const CommandRequest& request, CommandOutput& output,
    mcp::ProgressReporter& progress,
    const std::function<std::optional<guest::CommandResult>()>& run) {
  const ProgressTicker::Registration ticking =
      Tick(progress, [&] { progress.Report(output.Describe()); });
  try {
    const std::optional<guest::CommandResult> result = run();
    if (!result) return std::nullopt;
    output.Finish();
    return MakeResult(output, OutcomeOf(*result, request, output.shell_missing()));
  } catch (const support::Stopped& stopped) {
    output.Finish();
    const std::string left = VerifyEnd(guest, output.process_group());
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    return MakeResult(
        output,
        {std::nullopt, DescribeStop(stopped.reason(), options_.command_timeout) + "; " + left});
  } catch (const support::ConnectionLost& lost) {
    output.Finish();
    if (!lost.may_have_run()) throw;
    return MakeResult(output, {std::nullopt, lost.what()});
  }
}

}  // namespace tools
