// SPDX-License-Identifier: Apache-2.0
#include "testing/guest_processes.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "testing/child_process.h"
#include "testing/eventually.h"

namespace testing_support {
namespace {

struct Process {
  GuestProcess identity;
  pid_t parent = 0;
  long group = 0;
};

/// All processes of this machine except zombies. The environment of other users' is hidden.
std::vector<Process> AllProcesses() {
#ifdef __APPLE__
  const std::vector<std::string> with_environment = {"-E"};
#else
  const std::vector<std::string> with_environment = {"e"};
#endif
  std::vector<std::string> arguments = {"ps", "-A", "-ww", "-o",
                                        "pid=,ppid=,pgid=,stat=,lstart=,command="};
  arguments.insert(arguments.end(), with_environment.begin(), with_environment.end());
  const ProcessResult result =
      RunProcess({.arguments = arguments, .environment = {{"LC_ALL", "C"}}});
  if (result.exit_code != 0) throw std::runtime_error("ps: " + result.error);
  std::vector<Process> processes;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Process process;
    std::string state;
    fields >> process.identity.pid >> process.parent >> process.group >> state;
    for (int i = 0; i < 5; ++i) {  // Sat Nov 21 08:20:12 2026
      std::string word;
      fields >> word;
      process.identity.started += word + " ";
    }
    std::getline(fields >> std::ws, process.identity.command);
    if (!state.starts_with('Z')) processes.push_back(std::move(process));
  }
  return processes;
}

/// Repeats until no new ones appear.
template <typename Action>
void ForAll(const LoopbackInstance& instance, Action action) {
  std::set<pid_t> seen;
  for (bool found = true; found;) {
    found = false;
    for (const GuestProcess& process : GuestProcesses(instance)) {
      if (seen.insert(process.pid).second) {
        action(process.pid);
        found = true;
      }
    }
  }
}

}  // namespace

std::vector<GuestProcess> GuestProcesses(const LoopbackInstance& instance) {
  const std::string home = "HOME=" + (instance.directory() / "guest-home").string();
  std::set<pid_t> family = {instance.sshd_pid()};
  const std::vector<Process> all = AllProcesses();
  for (bool grown = true; grown;) {
    grown = false;
    for (const Process& process : all) {
      if (family.count(process.parent) == 0) continue;
      grown = family.insert(process.identity.pid).second || grown;
    }
  }
  std::vector<GuestProcess> found;
  for (const Process& one : all) {
    const GuestProcess& process = one.identity;
    if (process.pid == instance.sshd_pid()) continue;
    if (family.count(process.pid) > 0 || process.command.find(home) != std::string::npos) {
      found.push_back(process);
    }
  }
  return found;
}

bool EndsSoon(const std::filesystem::path& file_of_process_id) {
  GuestProcess process;
  if (!(std::ifstream(file_of_process_id) >> process.pid)) {
    throw std::runtime_error("no process id in " + file_of_process_id.string());
  }
  const auto is_gone = [&process] {
    const std::vector<Process> all = AllProcesses();
    return std::none_of(all.begin(), all.end(), [&process](const Process& other) {
      return other.identity.pid == process.pid;
    });
  };
  return Eventually(is_gone, std::chrono::seconds(3));
}

bool GroupLives(long process_group) {
  const std::vector<Process> all = AllProcesses();
  return std::any_of(all.begin(), all.end(), [process_group](const Process& process) {
    return process.group == process_group;
  });
}

long StatusOf(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
  }
  return 0;
}

std::vector<GuestProcess> StillAlive(const std::vector<GuestProcess>& processes) {
  std::vector<GuestProcess> alive;
  for (const auto& found : AllProcesses()) {
    // Older Clang cannot capture a structured binding.
    const GuestProcess& process = found.identity;
    if (std::any_of(processes.begin(), processes.end(), [&](const GuestProcess& other) {
          return other.pid == process.pid && other.started == process.started;
        })) {
      alive.push_back(process);
    }
  }
  return alive;
}

void Freeze(const LoopbackInstance& instance) {
  ::kill(instance.sshd_pid(), SIGSTOP);
  ForAll(instance, [](pid_t pid) { ::kill(pid, SIGSTOP); });
}

void Thaw(const LoopbackInstance& instance) {
  for (const GuestProcess& process : GuestProcesses(instance)) ::kill(process.pid, SIGCONT);
  ::kill(instance.sshd_pid(), SIGCONT);
}

void KillEverything(const LoopbackInstance& instance) {
  const std::vector<GuestProcess> all = GuestProcesses(instance);
  ::kill(instance.sshd_pid(), SIGKILL);
  for (const GuestProcess& process : all) ::kill(process.pid, SIGKILL);
  ForAll(instance, [](pid_t pid) { ::kill(pid, SIGKILL); });
}

}  // namespace testing_support
