#include "tools/tool_list.h"

#include "tools/glob.h"
#include "tools/list_directory.h"
#include "tools/read_file.h"
#include "tools/replace.h"
#include "tools/run_shell_command.h"
#include "tools/search_file_content.h"
#include "tools/write_file.h"

namespace tools {

std::vector<std::unique_ptr<mcp::Tool>> MakeTools(WorkspaceSource& workspaces,
                                                  const ToolOptions& options) {
  CommandRunner::Options command_options;
  command_options.command_timeout = options.command_timeout;
  command_options.maximum_output_bytes = options.maximum_output_bytes;

  SearchFileContentTool::Options search_options;
  search_options.maximum_output_bytes = options.maximum_output_bytes;
  const auto writer = std::make_shared<files::FileWriter>();

  std::vector<std::unique_ptr<mcp::Tool>> tools;
  tools.push_back(std::make_unique<GlobTool>(workspaces));
  tools.push_back(std::make_unique<ListDirectoryTool>(workspaces));
  tools.push_back(std::make_unique<ReadFileTool>(workspaces));
  tools.push_back(std::make_unique<ReplaceTool>(workspaces, writer));
  tools.push_back(std::make_unique<RunShellCommand>(workspaces, command_options));
  tools.push_back(std::make_unique<SearchFileContentTool>(workspaces, search_options));
  tools.push_back(std::make_unique<WriteFileTool>(workspaces, writer));
  return tools;
}

}  // namespace tools
