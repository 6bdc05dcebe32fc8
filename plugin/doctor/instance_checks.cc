#include "doctor/instance_checks.h"

#include <sys/stat.h>

#include "lima/home.h"
#include "lima/host_agent.h"
#include "lima/status.h"
#include "shell/shell_quote.h"
#include "ssh/key_check.h"
#include "support/join.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using lima::InstanceConfiguration;

/// Others than the owner may read or write it: OpenSSH (and with it limactl) then refuses it.
bool IsOpenToOthers(const std::string& file) {
  struct stat status {};
  constexpr mode_t kOthers = 077;
  return ::stat(file.c_str(), &status) == 0 && (status.st_mode & kOthers) != 0;
}

}  // namespace

std::string RestartCommand(const std::string& instance) {
  return "limactl stop --force " + instance + " && limactl start " + instance;
}

Finding CheckInstance(const fs::path& lima_home, const std::string& name) {
  if (lima::InstanceExists(lima_home, name)) return Passed((lima_home / name).string());
  const std::string known = support::Join(lima::ListInstances(lima_home));
  return Failed("there is no instance \"" + name + "\" in " + lima_home.string(),
                known.empty()
                    ? "make one: limactl start --name " + name + " --mount-only \"$PWD:w\""
                    : "name one of these: " + known + ", or make one: limactl start --name " +
                          name + " --mount-only \"$PWD:w\"");
}

Finding CheckConfiguration(const InstanceConfiguration& configuration) {
  if (configuration.os == "Windows") {
    return Failed("a Windows guest, which is not supported",
                  "name an instance with another guest: limactl list shows them");
  }
  return Passed(configuration.os + " guest, login shell " + lima::LoginShell(configuration) +
                (configuration.vm_type ? ", " + *configuration.vm_type : ""));
}

Finding CheckStatus(const InstanceConfiguration& configuration) {
  const lima::Status status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  switch (status.state) {
    case lima::State::kRunning:
      return Passed("running");
    case lima::State::kStopped:
      return Failed("stopped", "limactl start " + configuration.name);
    case lima::State::kBroken:
      break;
  }
  return Failed("broken: " + status.reason,
                "if it is not just starting or stopping: " + RestartCommand(configuration.name));
}

Finding CheckSshConfig(const lima::SshEndpoint& endpoint) {
  return Passed(endpoint.user + " at " + endpoint.host + " port " + std::to_string(endpoint.port));
}

Finding CheckPort(const InstanceConfiguration& configuration, const lima::SshEndpoint& endpoint) {
  const fs::path socket = configuration.directory() / "ha.sock";
  std::uint16_t port = 0;
  try {
    port = lima::AskHostAgent(socket).ssh_local_port;
  } catch (const lima::HostAgentError& error) {
    return Failed("the host agent's " + socket.string() + " is of no use: " + error.what(),
                  RestartCommand(configuration.name));
  }
  if (port == 0) {
    return Warning("the host agent does not know its SSH port yet",
                   "wait until the instance has started: limactl list");
  }
  if (port == endpoint.port) return Passed("ssh.config and the host agent agree");
  return Failed("ssh.config has port " + std::to_string(endpoint.port) + ", the host agent port " +
                    std::to_string(port) + ": the former may belong to another instance by now",
                RestartCommand(configuration.name) + ", which writes ssh.config anew");
}

Finding CheckKeys(const lima::SshEndpoint& endpoint) {
  std::string usable;
  std::string problems;
  std::string exposed;
  std::string advice = "chmod 600";
  for (const std::string& file : endpoint.identity_files) {
    if (IsOpenToOthers(file)) {
      exposed += (exposed.empty() ? "" : ", ") + file;
      advice += " " + shell::ShellQuote(file);
      continue;
    }
    const std::string problem = ssh::ProblemOfKey(file);
    if (problem.empty()) {
      usable += (usable.empty() ? "" : ", ") + file;
    } else {
      if (!problems.empty()) problems += "; ";
      problems += file;
      problems += ": " + problem;
    }
  }
  if (!exposed.empty()) {
    const std::string text =
        exposed +
        " may be read by other users, who can then enter the guest; ssh refuses such a key";
    // Lima's own comes first. Beside it may stand keys of the user's, which ssh passes over.
    const bool is_limas = IsOpenToOthers(endpoint.identity_files.front());
    if (is_limas || usable.empty()) return Failed(text, advice);
    return Warning(text + "; used: " + usable, advice);
  }
  if (usable.empty()) {
    return Failed(problems,
                  "restore the key that Lima made (with a new one, the instance has to be started "
                  "again)");
  }
  // Lima itself names keys of the user's that need not be there.
  return Passed(usable + (problems.empty() ? "" : "; not used: " + problems));
}

}  // namespace doctor
