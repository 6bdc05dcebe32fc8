#pragma once

#include <memory>
#include <utility>

#include "mcp/tool.h"
#include "shell/cut_outputs.h"
#include "shell/processes.h"
#include "tools/workspace.h"

namespace tools {

/// `start_process`: in a directory that the path rules allow. A call that is cancelled stops the
/// process.
class StartProcessTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  StartProcessTool(WorkspaceSource& workspaces, std::shared_ptr<shell::Processes> processes)
      : workspaces_(workspaces), processes_(std::move(processes)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
  std::shared_ptr<shell::Processes> processes_;
};

/// `read_process`. No round trip.
class ReadProcessTool final : public mcp::Tool {
 public:
  ReadProcessTool(std::shared_ptr<shell::Processes> processes,
                  std::shared_ptr<shell::CutOutputs> cut_outputs)
      : processes_(std::move(processes)), cut_outputs_(std::move(cut_outputs)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  std::shared_ptr<shell::Processes> processes_;
  std::shared_ptr<shell::CutOutputs> cut_outputs_;
};

/// `write_process`. Waits for at most a second.
class WriteProcessTool final : public mcp::Tool {
 public:
  explicit WriteProcessTool(std::shared_ptr<shell::Processes> processes)
      : processes_(std::move(processes)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  std::shared_ptr<shell::Processes> processes_;
};

}  // namespace tools
