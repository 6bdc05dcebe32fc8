// SPDX-License-Identifier: Apache-2.0
#include "copy/copy.h"

#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {

std::string ReadCopyDirectory(const Parsed& parsed) {
  if (parsed.count("copy-dir") == 0) return "";
  const auto& text = parsed["copy-dir"].as<std::string>();
  const std::string directory = support::CleanPath(text);
  const bool fits =
      text.starts_with('/') && directory != "/" && text.find('\n') == std::string::npos;
  if (fits) return directory;
  throw support::Error("--copy-dir \"{}\": expected an absolute directory of the guest, not /",
                       text);
}

void SendCopy(CopyCommand& command) {
  const git::Git users = command.users();
  const copy::Project project = copy::ReadProject(command.project(), users);
  command.side().Prepare(project);
  const copy::Snapshot snapshot = copy::TakeSnapshot(project, users, command.side());
  for (const std::string& line : copy::Send(command.OpenTarget(), project, snapshot)) {
    std::cerr << support::Printable(line) << '\n';
  }
}

int Copy(const Parsed& parsed) {
  const std::string instance = parsed.Positional(0, kAgentInstance);
  CopyCommand command(instance, "", ReadCopyDirectory(parsed));
  SendCopy(command);
  std::cout << "limactl mcp serve " << instance << " --copy "
            << shell::ShellQuote(command.project()) << '\n';
  return 0;
}

}  // namespace commands
