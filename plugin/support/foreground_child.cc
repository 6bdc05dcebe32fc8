// SPDX-License-Identifier: Apache-2.0
#include "support/foreground_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <map>
#include <system_error>

#include "support/log.h"

namespace support {
namespace {

constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

// A signal handler has no other way to know it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<pid_t> foreground_child = 0;

/// What the terminal sends has no sender, and has reached the child too. Nor may a sender outside
/// this container have one, but the terminal sends no TERM.
void PassOn(int number, siginfo_t* info, void* /*context*/) {
  if (info->si_pid != 0 || number == SIGTERM) ::kill(foreground_child, number);
}

int WaitFor(pid_t child) {
  int status = 0;
  while (true) {
    if (::waitpid(child, &status, WUNTRACED) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
    if (!WIFSTOPPED(status)) break;
    (void)::raise(SIGSTOP);
    // Only this process may have been continued.
    ::kill(child, SIGCONT);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void Become(std::vector<std::string> command) {
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(pointers.front(), pointers.data());
  throw std::system_error(errno, std::generic_category(), command.front());
}

int RunInForeground(const std::function<void()>& start) {
  std::cout.flush();
  // Ignored, it would take the exit status away.
  (void)::signal(SIGCHLD, SIG_DFL);
  struct sigaction action {};
  action.sa_sigaction = &PassOn;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigset_t signals{};
  sigset_t before{};
  sigemptyset(&signals);
  for (const int number : kSignals) sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  foreground_child = ::fork();
  if (foreground_child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (foreground_child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    try {
      start();
    } catch (const std::exception& problem) {
      LogError(problem.what());
    }
    ::_exit(1);
  }
  std::map<int, struct sigaction> replaced;
  for (const int number : kSignals) {
    ::sigaction(number, nullptr, &replaced[number]);
    if (replaced[number].sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const int exit_code = WaitFor(foreground_child);
  for (const auto& [number, old] : replaced) ::sigaction(number, &old, nullptr);
  return exit_code;
}

}  // namespace support
