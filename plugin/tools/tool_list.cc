#include "tools/tool_list.h"

#include <utility>

#include "tools/contract.h"
#include "tools/tools.h"

namespace tools {
namespace {

using Function = mcp::ToolResult(Toolbox&, const mcp::ToolCall&);

class FunctionTool final : public mcp::Tool {
 public:
  FunctionTool(const char* name, Function& function, std::shared_ptr<Toolbox> toolbox)
      : definition_(Definition(name)), function_(function), toolbox_(std::move(toolbox)) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override { return definition_; }
  mcp::ToolResult Call(const mcp::ToolCall& call) override { return function_(*toolbox_, call); }

 private:
  const mcp::ToolDefinition& definition_;
  Function& function_;
  std::shared_ptr<Toolbox> toolbox_;
};

}  // namespace

std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options) {
  const auto toolbox = std::make_shared<Toolbox>(workspaces, options);
  std::vector<std::unique_ptr<mcp::Tool>> tools;
  const auto add = [&](const char* name, Function& function) {
    tools.push_back(std::make_unique<FunctionTool>(name, function, toolbox));
  };
  add("glob", Glob);
  add("list_directory", ListDirectory);
  add("read_file", ReadFile);
  add("read_process", ReadProcess);
  add("replace", Replace);
  add("run_shell_command", RunShellCommand);
  add("search_file_content", SearchFileContent);
  add("start_process", StartProcess);
  add("write_file", WriteFile);
  add("write_process", WriteProcess);
  return tools;
}

}  // namespace tools
