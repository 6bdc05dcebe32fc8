#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "shell/capped_output.h"
#include "shell/cut_outputs.h"
#include "support/context.h"
#include "tools/workspace.h"

namespace tools {

/// What the user of the program can set.
struct ToolOptions {
  /// How long a command may run; 0: no limit. Gemini CLI gives up after ten minutes.
  std::chrono::milliseconds command_timeout = std::chrono::minutes(9);

  /// Bytes kept of each output stream of a command, and of the lines that a search finds.
  std::size_t maximum_output_bytes = shell::kDefaultMaximumOutput;
};

struct CommandRequest {
  std::vector<std::string> words;  ///< at least one, none with NUL
  std::string directory;           ///< in the guest
  std::string shell;               ///< the guest user's login shell; empty: "$SHELL"
};

/// Runs a command as `limactl shell --workdir=DIRECTORY INSTANCE WORDS…` does (Lima's
/// cmd/limactl/shell.go), in the guest's resident shells (shell/resident_script.h). One round trip.
///
/// The result; a failed command is no error of the tool:
///   exited with status N   exit_code N; error "exit status N" unless N is 0
///   killed by a signal     exit_code 128 + Linux's number; error "signal: NAME". A command that
///                          exits with that status looks the same
///   stopped by the context, lost connection
///                          no exit_code; error explains; output until then
/// Output is text: U+FFFD replaces bytes that are not UTF-8; control characters stay.
///
/// If a stream was cut, `cut_outputs` keeps the output, and the result names its id.
///
/// Throws support::Stopped once a cancelled command has been stopped, support::CallError if the
/// command is too long, and what shell::Shells::RunCommand throws before the command can have run.
mcp::ToolResult RunCommand(guest::Guest& guest, const CommandRequest& request,
                           const ToolOptions& options, shell::CutOutputs& cut_outputs,
                           const support::Context& context, mcp::ProgressReporter& progress);

/// `run_shell_command`: RunCommand in a directory that the path rules allow. Round trips: two for a
/// path without links, the path rules' and the command.
class RunShellCommand final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  RunShellCommand(WorkspaceSource& workspaces, const ToolOptions& options,
                  std::shared_ptr<shell::CutOutputs> cut_outputs)
      : workspaces_(workspaces), options_(options), cut_outputs_(std::move(cut_outputs)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  ToolOptions options_;
  std::shared_ptr<shell::CutOutputs> cut_outputs_;
};

}  // namespace tools
