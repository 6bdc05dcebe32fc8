#include "tools/tool_list.h"

#include <map>
#include <string>
#include <utility>

#include "files/file_problem.h"
#include "support/errors.h"
#include "tools/render.h"
#include "tools/tools.h"

namespace tools {
namespace {

using Function = mcp::ToolResult(Toolbox&, const mcp::ToolCall&);

template <auto kTool>
mcp::ToolResult Run(Toolbox& toolbox, const mcp::ToolCall& call) {
  try {
    return Render(kTool(toolbox, call), call.format);
  } catch (const files::PathlessError& error) {
    if (call.format.style != mcp::ResultStyle::kText) throw;
    // As text, the error also names the argument `path`.
    throw support::CallError(std::string(error.what()) + ": " +
                             call.arguments.at("path").get<std::string>());
  }
}

const std::map<std::string, Function*> kFunctions = {
    {"glob", Run<Glob>},
    {"list_directory", Run<ListDirectory>},
    {"read_file", Run<ReadFile>},
    {"read_process", Run<ReadProcess>},
    {"replace", Run<Replace>},
    {"run_shell_command", Run<RunShellCommand>},
    {"search_file_content", Run<SearchFileContent>},
    {"start_process", Run<StartProcess>},
    {"write_file", Run<WriteFile>},
    {"write_process", Run<WriteProcess>},
};

class FunctionTool final : public mcp::Tool {
 public:
  FunctionTool(mcp::ToolDefinition definition, std::shared_ptr<Toolbox> toolbox)
      : definition_(std::move(definition)),
        run_(kFunctions.at(definition_.name)),
        toolbox_(std::move(toolbox)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override { return definition_; }
  mcp::ToolResult Call(const mcp::ToolCall& call) override { return run_(*toolbox_, call); }

 private:
  const mcp::ToolDefinition definition_;
  Function* const run_;
  const std::shared_ptr<Toolbox> toolbox_;
};

}  // namespace

std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options) {
  const auto toolbox = std::make_shared<Toolbox>(workspaces, options);
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  for (mcp::ToolDefinition& definition : Definitions(options)) {
    tools.push_back(std::make_unique<FunctionTool>(std::move(definition), toolbox));
  }
  return tools;
}

}  // namespace tools
