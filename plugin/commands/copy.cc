#include "copy/copy.h"

#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "shell/shell_quote.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {
namespace {

void Say(const std::string& line) {
  std::cerr << support::Printable(line) << '\n';
}

}  // namespace

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

void SendCopy(CopyCommand& command, const std::string& instance) {
  const copy::Git users = command.users();
  const copy::Project project = copy::ReadProject(command.project(), users);
  command.side().Prepare(project);
  const copy::Snapshot snapshot = copy::TakeSnapshot(project, users, command.side());
  const copy::Target target = command.Connect();
  const bool was_made = !command.side().facts().sent.empty();
  const copy::Sent sent = copy::Send(target, project, snapshot);
  const std::string place = instance + ":" + target.directory;
  if (sent.end == copy::SendEnd::kContinued) {
    const std::string summary = sent.before.Summary();
    return Say(
        "The copy in " + place + " stays as it is: " +
        (summary.empty() ? "it is in use." : summary + " not taken. limactl mcp take " + instance));
  }
  if (sent.end == copy::SendEnd::kUnchanged) return Say("The copy in " + place + " is up to date.");
  if (was_made && sent.before.directory == "absent") Say("The copy was gone; it is made anew.");
  for (const std::string& note : snapshot.notes) Say("Note: " + note + ".");
  for (const std::string& note : copy::ListNotes(project, users)) Say("Note: " + note + ".");
  Say(sent.end == copy::SendEnd::kMade ? "Copied to " + place + "."
                                       : "The copy in " + place + " starts again from here.");
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
  SendCopy(command, instance);
  std::cout << "limactl mcp serve " << instance << " --copy "
            << shell::ShellQuote(command.project()) << '\n';
  return 0;
}

}  // namespace commands
