// SPDX-License-Identifier: Apache-2.0
#include "commands/termination_watch.h"

#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace commands {
namespace {

// sigemptyset() and the like are macros on macOS, which take no "::".

constexpr std::array<int, 3> kSignals = {SIGTERM, SIGINT, SIGHUP};

/// How late the parent's death may be noticed.
constexpr timespec kParentCheck{1, 0};

}  // namespace

pid_t TerminationWatch::PrepareProcess() {
  const pid_t parent = ::getppid();
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int number : kSignals) sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) (void)::signal(number, SIG_IGN);
  return parent;
}

TerminationWatch::TerminationWatch(pid_t parent,
                                   std::function<void(support::StopReason)> on_termination)
    : on_termination_(std::move(on_termination)), parent_(parent) {
  // pselect() returns only for a signal that has a handler.
  struct sigaction action {};
  action.sa_handler = [](int) {};
  for (const int number : kSignals) ::sigaction(number, &action, nullptr);
  thread_ = std::thread([this] { Watch(); });
}

TerminationWatch::~TerminationWatch() {
  stop_.Wake();
  thread_.join();
}

void TerminationWatch::Watch() const {
  sigset_t unblocked{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &unblocked);
  for (const int number : kSignals) sigdelset(&unblocked, number);
  while (::getppid() == parent_) {
    fd_set polled;
    FD_ZERO(&polled);
    FD_SET(stop_.fd(), &polled);
    const int ready =
        ::pselect(stop_.fd() + 1, &polled, nullptr, nullptr, &kParentCheck, &unblocked);
    if (ready > 0) return;
    if (ready < 0) return on_termination_(support::StopReason::kTerminated);
  }
  on_termination_(support::StopReason::kEndOfInput);
}

}  // namespace commands
