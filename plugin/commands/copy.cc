// SPDX-License-Identifier: Apache-2.0
#include "copy/copy.h"

#include <filesystem>
#include <iostream>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "exposure/guest_reach.h"
#include "shell/shell_quote.h"
#include "support/paths.h"
#include "support/printable.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

/// The path below the project of a file that the user named. Throws UsageError.
std::string InProject(const std::string& file, const std::string& project) {
  const fs::path named = fs::absolute(file);
  const std::string path = support::CleanPath(exposure::ResolvedOnHost(named.parent_path()) + "/" +
                                              named.filename().string());
  const auto below = support::PathBelow(path, project);
  std::error_code gone;
  if (below && !below->empty() && fs::exists(fs::symlink_status(path, gone))) return *below;
  throw UsageError("--include \"{}\": expected a file of the project", file);
}

}  // namespace

std::string ReadCopyDirectory(const Parsed& parsed) {
  if (parsed.count("copy-dir") == 0) return "";
  const auto& text = parsed["copy-dir"].as<std::string>();
  const std::string directory = support::CleanPath(text);
  const bool fits =
      text.starts_with('/') && directory != "/" && text.find('\n') == std::string::npos;
  if (fits) return directory;
  throw UsageError("--copy-dir \"{}\": expected an absolute directory of the guest, not /", text);
}

void SendCopy(CopyCommand& command, const std::vector<std::string>& included) {
  const git::Git users = command.users();
  const copy::Project project = copy::ReadProject(command.project(), users);
  command.side().Prepare(project);
  const copy::Snapshot snapshot = copy::TakeSnapshot(project, users, command.side(), included);
  for (const std::string& line : copy::Send(command.OpenTarget(), project, snapshot, users)) {
    std::cerr << support::Printable(line) << '\n';
  }
}

int Copy(const Parsed& parsed) {
  const std::string instance = parsed.Positional(0, kAgentInstance);
  CopyCommand command(instance, "", ReadCopyDirectory(parsed));
  std::vector<std::string> included;
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    if (option.key() != "include") continue;
    included.push_back(InProject(option.value(), command.project()));
    if (!command.users().Run({"check-ignore", "-q", "./" + included.back()}).ok()) continue;
    throw UsageError("--include \"{}\": git ignores it. First: git add -f {}", option.value(),
                     shell::ShellQuote(option.value()));
  }
  SendCopy(command, included);
  std::cout << "limactl mcp serve " << instance << " --copy "
            << shell::ShellQuote(command.project()) << '\n';
  return 0;
}

}  // namespace commands
