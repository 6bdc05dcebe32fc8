#include "tools/tool_list.h"

#include "tools/glob.h"
#include "tools/list_directory.h"
#include "tools/process_tools.h"
#include "tools/read_file.h"
#include "tools/replace.h"
#include "tools/run_shell_command.h"
#include "tools/search_file_content.h"
#include "tools/write_file.h"

namespace tools {

std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options) {
  const auto writer = std::make_shared<files::FileWriter>();
  const auto processes = std::make_shared<shell::Processes>();
  const auto cut_outputs = std::make_shared<shell::CutOutputs>();

  std::vector<std::unique_ptr<mcp::Tool>> tools;
  tools.push_back(std::make_unique<GlobTool>(workspaces));
  tools.push_back(std::make_unique<ListDirectoryTool>(workspaces));
  tools.push_back(std::make_unique<ReadFileTool>(workspaces));
  tools.push_back(std::make_unique<ReadProcessTool>(processes, cut_outputs));
  tools.push_back(std::make_unique<ReplaceTool>(workspaces, writer));
  tools.push_back(std::make_unique<RunShellCommand>(workspaces, options, cut_outputs));
  tools.push_back(
      std::make_unique<SearchFileContentTool>(workspaces, options.maximum_output_bytes));
  tools.push_back(std::make_unique<StartProcessTool>(workspaces, processes));
  tools.push_back(std::make_unique<WriteFileTool>(workspaces, writer));
  tools.push_back(std::make_unique<WriteProcessTool>(processes));
  return tools;
}

}  // namespace tools
