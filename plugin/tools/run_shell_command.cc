#include "tools/run_shell_command.h"

#include <optional>
#include <string>
#include <vector>

#include "files/file_call.h"
#include "support/errors.h"
#include "tools/contract.h"

namespace tools {
namespace {

std::vector<std::string> CommandArgument(const nlohmann::json& arguments) {
  auto command = arguments.at("command").get<std::vector<std::string>>();
  if (command.empty()) {
    throw support::CallError(
        "command is an empty list: give the program and its arguments, such as [\"ls\",\"-l\"]");
  }
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i].find('\0') != std::string::npos) {
      throw support::CallError("command[" + std::to_string(i) +
                               "] holds a NUL character, which no argument can carry");
    }
  }
  return command;
}

}  // namespace

const mcp::ToolDefinition& RunShellCommand::definition() const {
  return Definition("run_shell_command");
}

mcp::ToolResult RunShellCommand::Call(const mcp::ToolCall& call) {
  CommandRequest request;
  request.words = CommandArgument(call.arguments);
  const auto directory = call.arguments.at("directory").get<std::string>();
  const support::Context context = runner_.WithTimeLimit(call.context);
  // A command may take long, looking at its directory may not: in a guest that was frozen, each
  // look would last until the guest's silence is noticed. The time is that of all looks in a row.
  std::optional<support::Context> looking;
  return WithWorkspace(workspaces_, context, call.progress, [&](const Workspace& workspace) {
    if (!looking) looking = context.WithTimeout(files::kFileToolTimeLimit);
    call.progress.SetStatus("waiting for the guest to look at the directory");
    request.directory =
        workspace.paths->Resolve(directory, paths::Access::kRead, *workspace.guest, *looking).guest;
    looking.reset();  // the guest has answered
    request.shell = workspace.shell;
    return runner_.Run(*workspace.guest, request, context, call.progress);
  });
}

}  // namespace tools
