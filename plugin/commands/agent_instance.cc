#include "commands/agent_instance.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <system_error>
#include <vector>

#include "commands/commands.h"
#include "commands/project.h"
#include "connection/limactl_start.h"
#include "lima/home.h"
#include "lima/sandbox.h"
#include "lima/status.h"
#include "shell/shell_quote.h"
#include "support/spawn.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using support::CallError;

bool IsMissingAgent(const fs::path& lima_home, const std::string& name) {
  std::error_code unknown;
  return name == kAgentInstance && !fs::exists(lima_home / name / "lima.yaml", unknown) && !unknown;
}

/// Asks on standard error; Enter is yes.
bool Confirm(const std::string& question) {
  std::cerr << question << " [Y/n] " << std::flush;
  std::string answer;
  return std::getline(std::cin, answer) &&
         (answer.empty() || answer == "y" || answer == "Y" || answer == "yes");
}

/// Its output goes to the terminal.
int RunToEnd(const std::vector<std::string>& command) {
  const pid_t pid =
      support::Spawn(command, {-1, STDERR_FILENO, STDERR_FILENO}, support::SpawnSession::kShared);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void RequireInstance(const fs::path& lima_home, const std::string& name) {
  if (!IsMissingAgent(lima_home, name)) return lima::RequireInstance(lima_home, name);
  throw CallError("there is no Lima instance \"" + name + "\" in " + lima_home.string() +
                  "; create it, without mounts, with: " +
                  shell::ShellCommand(lima::MountlessSandboxCommand(name)));
}

void OfferInstance(const fs::path& lima_home, const std::string& name) {
  const bool can_ask = ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
  if (!IsMissingAgent(lima_home, name) || !can_ask) return RequireInstance(lima_home, name);
  std::cerr << "Agents work in the Lima instance \"" << name
            << "\", a virtual machine that mounts nothing of this host. There is none yet.\n";
  if (!Confirm("Create it now?")) throw CallError("nothing was created");
  UseSafeSearchPath(name);
  const std::vector<std::string> command = lima::MountlessSandboxCommand(name);
  const std::string text = "`" + shell::ShellCommand(command) + "` ";
  try {
    if (RunToEnd(command) != 0) throw CallError(text + "failed; its messages are above");
  } catch (const std::system_error& error) {
    throw CallError(text + "cannot be run: " + error.code().message());
  }
}

void StartIfStopped(const lima::InstanceConfiguration& configuration) {
  const auto status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  if (status.state != lima::State::kStopped) return;
  UseSafeSearchPath(configuration.name);
  connection::LimactlStart(configuration.name).Run({}, [](const std::string& text) {
    std::cerr << text << ", which may take a minute...\n";
  });
}

}  // namespace commands
