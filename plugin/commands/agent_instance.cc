#include "commands/agent_instance.h"

#include <unistd.h>

#include <iostream>
#include <system_error>

#include "commands/commands.h"
#include "commands/project.h"
#include "connection/limactl_start.h"
#include "lima/home.h"
#include "lima/sandbox.h"
#include "lima/status.h"
#include "shell/shell_quote.h"
#include "support/foreground_child.h"

namespace commands {

void RequireInstance(const std::filesystem::path& lima_home, const std::string& name, bool offers) {
  std::error_code unknown;
  const bool is_missing_agent =
      name == kAgentInstance && !std::filesystem::exists(lima_home / name / "lima.yaml", unknown);
  if (!is_missing_agent || unknown) return lima::RequireInstance(lima_home, name);

  const std::string text = "there is no Lima instance \"" + name + "\" in " + lima_home.string();
  const std::vector<std::string> command = lima::MountlessSandboxCommand(name);
  if (!offers || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) {
    throw support::CallError(text +
                             "; create it, without mounts, with: " + shell::ShellCommand(command));
  }
  std::cerr << text << ", a virtual machine for agents that mounts nothing of this host.\n"
            << "Create it now? [Y/n] " << std::flush;
  std::string answer;
  const bool is_yes = std::getline(std::cin, answer) &&
                      (answer.empty() || answer == "y" || answer == "Y" || answer == "yes");
  if (!is_yes) throw support::CallError("nothing was created");
  UseSafeSearchPath(name);
  if (support::RunInForeground([&] { support::Become(command); }) == 0) return;
  throw support::CallError("`" + shell::ShellCommand(command) + "` failed");
}

void StartIfStopped(const lima::InstanceConfiguration& configuration) {
  const auto status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  if (status.state != lima::State::kStopped) return;
  UseSafeSearchPath(configuration.name);
  connection::StartInstance(configuration.name, {}, [](const std::string& text) {
    std::cerr << text << ", which may take a minute...\n";
  });
}

}  // namespace commands
