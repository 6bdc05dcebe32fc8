#include "copy/copy.h"

#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "shell/shell_quote.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {

void AddCopyDirectory(OptionParser& parser) {
  parser.AddOptions()("copy-dir",
                      "The directory in the guest, outside all mounts, if not the project's own "
                      "path",
                      cxxopts::value<std::string>(), "DIR");
}

std::string ReadCopyDirectory(const cxxopts::ParseResult& parsed) {
  if (parsed.count("copy-dir") == 0) return "";
  const auto& text = parsed["copy-dir"].as<std::string>();
  const std::string directory = support::CleanPath(text);
  const bool fits =
      text.starts_with('/') && directory != "/" && text.find('\n') == std::string::npos;
  if (fits) return directory;
  throw UsageError("--copy-dir \"" + text + "\": expected an absolute directory of the guest");
}

void SendCopy(CopyCommand& command) {
  const copy::Git users = command.users();
  const copy::Project project = copy::ReadProject(command.project(), users);
  command.side().Prepare(project);
  const copy::Snapshot snapshot = copy::TakeSnapshot(project, users, command.side());
  for (const std::string& line : copy::Send(command.Connect(), project, snapshot, users)) {
    std::cerr << support::Printable(line) << '\n';
  }
}

int Copy(const std::vector<std::string>& arguments) {
  OptionParser parser("copy",
                      "Copy the project in the current directory into an instance, or refresh the "
                      "copy if all work in it was taken",
                      "[INSTANCE]", 1);
  AddCopyDirectory(parser);
  const auto parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const std::string instance = CopyInstance(*parsed);
  CopyCommand command(instance, "", ReadCopyDirectory(*parsed));
  SendCopy(command);
  std::cout << "limactl mcp serve " << instance << " --copy "
            << shell::ShellQuote(command.project()) << '\n';
  return 0;
}

}  // namespace commands
