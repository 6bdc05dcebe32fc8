#pragma once

#include <chrono>
#include <cstddef>

#include "mcp/tool.h"
#include "tools/progress_ticker.h"
#include "tools/workspace.h"

namespace tools {

/// The tool run_shell_command: the command that `limactl shell --workdir=DIRECTORY INSTANCE ARGS…`
/// would run, with the same environment, directory, exit code and output (Lima's
/// cmd/limactl/shell.go), on one channel of the connection. See command_script.h for how the guest
/// side works.
///
/// One round trip for the directory (path rules), one for the command; one more when it was
/// stopped, to see that its process group is gone.
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
class RunShellCommand final : public mcp::Tool {
 public:
  struct Options {
    /// For each of standard output and standard error; see CappedOutput.
    std::size_t maximum_output_bytes = 256 * 1024;

    /// How long a command may take; 0 is no limit. Gemini CLI gives up after ten minutes.
    std::chrono::milliseconds command_timeout = std::chrono::minutes(9);

    /// Between progress notifications, when the client asked for them.
    std::chrono::milliseconds progress_interval = std::chrono::seconds(1);
  };

  /// How long the guest is asked whether the process group of a stopped command is gone.
  static constexpr std::chrono::seconds kVerificationTimeout{5};

  /// `workspaces` must outlive the tool.
  RunShellCommand(WorkspaceSource& workspaces, const Options& options);

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  Options options_;
  ProgressTicker ticker_;
};

}  // namespace tools
