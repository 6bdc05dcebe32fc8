#include "tools/tool_list.h"

#include <string>
#include <utility>

#include "files/file_problem.h"
#include "support/errors.h"
#include "tools/contract.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace tools {
namespace {

using mcp::Lane;

using Function = mcp::ToolResult(Toolbox&, const mcp::ToolCall&);

template <auto kTool>
mcp::ToolResult Run(Toolbox& toolbox, const mcp::ToolCall& call) {
  try {
    return Render(kTool(toolbox, call), call.format);
  } catch (const files::PathlessError& error) {
    throw support::CallError(ErrorText(error, call));
  }
}

struct Row {
  const char* name;
  Function* run;
  mcp::ToolDefinition definition;
  Lane lane;
};

// clang-format off
std::vector<Row> Rows(const ToolOptions& options) {
  std::vector<Row> rows = {
      {"glob",                Run<Glob>,              contract::Glob(),              Lane::kQuick},
      {"list_directory",      Run<ListDirectory>,     contract::ListDirectory(),     Lane::kQuick},
      {"read_file",           Run<ReadFile>,          contract::ReadFile(),          Lane::kQuick},
      {"read_process",        Run<ReadProcess>,       contract::ReadProcess(),       Lane::kWaiting},
      {"replace",             Run<Replace>,           contract::Replace(),           Lane::kQuick},
      {"run_shell_command",   Run<RunShellCommand>,
       contract::RunShellCommand(options.command_timeout),                           Lane::kCommand},
      {"search_file_content", Run<SearchFileContent>, contract::SearchFileContent(), Lane::kQuick},
      {"start_process",       Run<StartProcess>,      contract::StartProcess(),      Lane::kWaiting},
      {"write_file",          Run<WriteFile>,         contract::WriteFile(),         Lane::kQuick},
      // Stopping a process never waits behind file tools whose guest does not answer.
      {"write_process",       Run<WriteProcess>,      contract::WriteProcess(),      Lane::kWaiting},
  };
  // clang-format on
  for (Row& row : rows) {
    row.definition.name = row.name;
    row.definition.lane = row.lane;
  }
  return rows;
}

class FunctionTool final : public mcp::Tool {
 public:
  FunctionTool(Row row, std::shared_ptr<Toolbox> toolbox)
      : row_(std::move(row)), toolbox_(std::move(toolbox)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override { return row_.definition; }
  mcp::ToolResult Call(const mcp::ToolCall& call) override { return row_.run(*toolbox_, call); }

 private:
  const Row row_;
  const std::shared_ptr<Toolbox> toolbox_;
};

}  // namespace

std::vector<mcp::ToolDefinition> Definitions(const ToolOptions& options) {
  std::vector<mcp::ToolDefinition> definitions;
  for (Row& row : Rows(options)) definitions.push_back(std::move(row.definition));
  return definitions;
}

std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options) {
  const auto toolbox = std::make_shared<Toolbox>(workspaces, options);
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  for (Row& row : Rows(options)) {
    tools.push_back(std::make_unique<FunctionTool>(std::move(row), toolbox));
  }
  return tools;
}

}  // namespace tools
