#include "commands/termination_watch.h"

#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#ifdef __APPLE__
#include <sys/event.h>
#else
#include <sys/syscall.h>
#endif

namespace commands {
namespace {

// sigemptyset() and the like are macros on macOS, which take no "::".

constexpr std::array<int, 3> kSignals = {SIGTERM, SIGINT, SIGHUP};

/// A descriptor that becomes readable when the process exits; invalid when the process is gone or
/// the system cannot watch it (Linux before 5.3, or a parent in another process namespace).
support::FileDescriptor OpenProcess(pid_t process) {
#ifdef __APPLE__
  support::FileDescriptor queue(::kqueue());
  struct kevent change {};
  EV_SET(&change, static_cast<uintptr_t>(process), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
  if (::kevent(queue.get(), &change, 1, nullptr, 0, nullptr) < 0) queue.Close();
  return queue;
#else
  return support::FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
#endif
}

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
    : on_termination_(std::move(on_termination)), parent_(parent), parent_fd_(OpenProcess(parent)) {
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
  // The parent may have died before OpenProcess.
  if (::getppid() != parent_) return on_termination_(support::StopReason::kEndOfInput);
  sigset_t unblocked{};
  ::pthread_sigmask(SIG_BLOCK, nullptr, &unblocked);
  for (const int number : kSignals) sigdelset(&unblocked, number);
  fd_set polled;
  FD_ZERO(&polled);
  FD_SET(stop_.fd(), &polled);
  if (parent_fd_.valid()) FD_SET(parent_fd_.get(), &polled);
  const int end = std::max(stop_.fd(), parent_fd_.get()) + 1;
  if (::pselect(end, &polled, nullptr, nullptr, nullptr, &unblocked) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "pselect");
    on_termination_(support::StopReason::kTerminated);
  } else if (!FD_ISSET(stop_.fd(), &polled)) {
    on_termination_(support::StopReason::kEndOfInput);
  }
}

}  // namespace commands
