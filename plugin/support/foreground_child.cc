#include "support/foreground_child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
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

/// While it lives, signals are passed on.
class SignalHandlers {
 public:
  explicit SignalHandlers(pid_t child) {
    foreground_child = child;
    struct sigaction action {};
    action.sa_sigaction = &PassOn;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~SignalHandlers() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  std::array<struct sigaction, kSignals.size()> before_{};
};

[[noreturn]] void Become(const std::function<void()>& become) {
  try {
    become();
  } catch (const std::exception& problem) {
    LogError(problem.what());
  }
  ::_exit(1);
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

int RunInForeground(const std::function<void()>& become) {
  std::cout.flush();
  // Ignored, it would take the exit status away.
  (void)::signal(SIGCHLD, SIG_DFL);
  sigset_t signals{};
  sigset_t before{};
  sigemptyset(&signals);
  for (const int number : kSignals) sigaddset(&signals, number);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    Become(become);
  }
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  const SignalHandlers handlers(child);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return WaitFor(child);
}

}  // namespace support
