#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "support/context.h"
#include "tools/capped_output.h"
#include "tools/command_output.h"
#include "tools/progress_ticker.h"
#include "tools/warm_shells.h"

namespace tools {

/// How long a command may take unless the user of the program chooses otherwise. Gemini CLI gives
/// up after ten minutes.
inline constexpr std::chrono::minutes kDefaultCommandTimeout{9};

struct CommandRequest {
  std::vector<std::string> words;  ///< at least one, none with NUL
  std::string directory;           ///< in the guest
  std::string shell;               ///< the guest user's login shell; empty: "$SHELL"
};

/// Runs commands in a guest as `limactl shell --workdir=DIRECTORY INSTANCE WORDS…` does (Lima's
/// cmd/limactl/shell.go), each on one channel of the connection; command_script.h tells how the
/// guest's side works. One round trip; one more when the command was stopped, to see that its
/// process group is gone. Thread-safe.
///
/// The result (a failed command is a result, not an error of the tool):
///   ended with status N    exit_code N; error "exit status N" unless N is 0
///   ended by a signal      exit_code 128 + Linux's number; error "signal: NAME"
///   time limit, end of the client's input, termination, lost connection
///                          no exit_code; error says what happened; output until then
/// A cancelled call throws support::Stopped once the process group has been ended.
///
/// Output is text: bytes that are not UTF-8 become U+FFFD; control characters and escape sequences
/// are passed on as they are.
class CommandRunner {
 public:
  struct Options {
    /// For each of standard output and standard error; see CappedOutput.
    std::size_t maximum_output_bytes = kDefaultMaximumOutput;

    /// How long a command may take; 0 is no limit.
    std::chrono::milliseconds command_timeout = kDefaultCommandTimeout;

    /// See WarmShells.
    bool warm_shells = true;

    /// Between progress notifications, when the client asked for them.
    std::chrono::milliseconds progress_interval = std::chrono::seconds(1);
  };

  /// How long the last output of a stopped command is waited for. The guest's watcher gives the
  /// command one second between TERM and KILL.
  static constexpr std::chrono::seconds kStopGrace{2};

  /// How long the guest is asked whether the process group of a stopped command is gone. The script
  /// that asks gives it three seconds of a guest that is not busy (GroupEndScript).
  static constexpr std::chrono::seconds kVerificationTimeout{10};

  explicit CommandRunner(const Options& options)
      : options_(options),
        ticker_(options.progress_interval),
        warm_shells_({options.warm_shells,
                      WarmShells::kLongestAge,
                      {options.maximum_output_bytes, kStopGrace}}) {}

  /// The context with the time limit of a command, for a call whose time begins before Run. Run
  /// sets it anyway.
  [[nodiscard]] support::Context WithTimeLimit(const support::Context& context) const;

  /// Until the registration ends, a client that asked for progress is told `text`.
  [[nodiscard]] ProgressTicker::Registration Announce(mcp::ProgressReporter& progress,
                                                      std::string text);

  /// Throws support::CallError for a command that is longer than the guest accepts, and what
  /// guest::Guest::Run throws before the command can have run.
  mcp::ToolResult Run(guest::Guest& guest, const CommandRequest& request,
                      const support::Context& call_context, mcp::ProgressReporter& progress);

  /// To be called when another tool has changed a file in the guest: the next command's login shell
  /// is to have read the new one.
  void OnFileChanged(guest::Guest& guest) { warm_shells_.Replace(guest); }

 private:
  /// Nothing is registered where the client asked for no progress, or this host allows no thread
  /// for it.
  [[nodiscard]] ProgressTicker::Registration Tick(const mcp::ProgressReporter& progress,
                                                  std::function<void()> callback);

  /// Makes a result of what `run` returns or throws; nothing where it returns nothing.
  std::optional<mcp::ToolResult> Attend(
      guest::Guest& guest, const CommandRequest& request, CommandOutput& output,
      mcp::ProgressReporter& progress,
      const std::function<std::optional<guest::CommandResult>()>& run);

  Options options_;
  ProgressTicker ticker_;
  WarmShells warm_shells_;
};

}  // namespace tools
