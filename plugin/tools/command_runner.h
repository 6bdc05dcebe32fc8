#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "shell/capped_output.h"
#include "shell/command_output.h"
#include "support/context.h"

namespace tools {

/// How long a command may take unless the user of the program chooses otherwise. Gemini CLI gives
/// up after ten minutes.
inline constexpr std::chrono::minutes kDefaultCommandTimeout{9};

/// What Linux accepts as one argument, the closing NUL not counted (MAX_ARG_STRLEN, 32 pages): of a
/// command as a login shell's -c gets it.
inline constexpr std::size_t kMaximumShellCommand = std::size_t{128} * 1024 - 1;

struct CommandRequest {
  std::vector<std::string> words;  ///< at least one, none with NUL
  std::string directory;           ///< in the guest
  std::string shell;               ///< the guest user's login shell; empty: "$SHELL"
};

/// Runs commands in a guest as `limactl shell --workdir=DIRECTORY INSTANCE WORDS…` does (Lima's
/// cmd/limactl/shell.go), in the guest's resident shells (shell/resident_script.h). One round trip.
/// Thread-safe.
///
/// The result (a failed command is a result, not an error of the tool):
///   ended with status N    exit_code N; error "exit status N" unless N is 0
///   ended by a signal      exit_code 128 + Linux's number; error "signal: NAME". A status of that
///                          number that the command gave itself looks the same: a shell tells no
///                          more
///   time limit, end of the client's input, termination, lost connection
///                          no exit_code; error says what happened; output until then
/// A cancelled call throws support::Stopped once the command's processes have been ended.
///
/// Output is text: bytes that are not UTF-8 become U+FFFD; control characters and escape sequences
/// are passed on as they are.
class CommandRunner {
 public:
  struct Options {
    /// For each of standard output and standard error; see CappedOutput.
    std::size_t maximum_output_bytes = shell::kDefaultMaximumOutput;

    /// How long a command may take; 0 is no limit.
    std::chrono::milliseconds command_timeout = kDefaultCommandTimeout;
  };

  explicit CommandRunner(const Options& options) : options_(options) {}

  /// The context with the time limit of a command, for a call whose time begins before Run. Run
  /// sets it anyway.
  [[nodiscard]] support::Context WithTimeLimit(const support::Context& context) const;

  /// Throws support::CallError for a command that is longer than the guest accepts, and what
  /// shell::Shells::RunCommand throws before the command can have run.
  mcp::ToolResult Run(guest::Guest& guest, const CommandRequest& request,
                      const support::Context& call_context, mcp::ProgressReporter& progress);

 private:
  Options options_;
};

}  // namespace tools
