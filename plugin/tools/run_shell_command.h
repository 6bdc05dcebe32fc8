#pragma once

#include "mcp/tool.h"
#include "tools/command_runner.h"
#include "tools/workspace.h"

namespace tools {

/// The tool run_shell_command: one command in a directory that the path rules allow, see
/// CommandRunner. Round trips: two for a path without links: the path rules' one, and the command.
class RunShellCommand final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  RunShellCommand(WorkspaceSource& workspaces, const CommandRunner::Options& options)
      : workspaces_(workspaces), runner_(options) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  CommandRunner runner_;
};

}  // namespace tools
