#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "commands/termination_watch.h"
#include "support/file_descriptor.h"
#include "support/log.h"
#include "support/wake_pipe.h"

namespace commands {
namespace {

support::FileDescriptor Require(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return support::FileDescriptor(fd);
}

sigset_t TerminationSignals() {
  sigset_t signals{};
  ::sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, number);
  return signals;
}

/// A descriptor that becomes readable when the parent process ends; invalid where that can't be
/// had.
support::FileDescriptor OpenParent() {
  const pid_t parent = ::getppid();
  const auto fd = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0));
  // A parent of 0 lives in another process namespace; a kernel before 5.3 has no pidfd.
  if (fd < 0) support::LogInfo("the death of the parent process cannot be watched on this system");
  return support::FileDescriptor(fd);
}

}  // namespace

class TerminationWatch::Implementation {
 public:
  Implementation(pid_t parent, std::function<void(support::StopReason)> on_termination)
      : on_termination_(std::move(on_termination)),
        parent_at_start_(parent),
        signals_(TerminationSignals()),
        signal_fd_(Require(::signalfd(-1, &signals_, SFD_CLOEXEC), "signalfd")),
        parent_fd_(OpenParent()),
        thread_([this] { Watch(); }) {}

  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  ~Implementation() {
    stop_.Wake();
    thread_.join();
  }

 private:
  void Watch() const {
    // The parent may have died before its descriptor was opened.
    if (::getppid() != parent_at_start_) return on_termination_(support::StopReason::kEndOfInput);
    std::array<pollfd, 3> polled = {
        {{stop_.fd(), POLLIN, 0}, {signal_fd_.get(), POLLIN, 0}, {parent_fd_.get(), POLLIN, 0}}};
    while (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
    }
    if (polled[0].revents != 0) return;
    on_termination_(polled[1].revents != 0 ? support::StopReason::kTerminated
                                           : support::StopReason::kEndOfInput);
  }

  std::function<void(support::StopReason)> on_termination_;
  pid_t parent_at_start_;
  sigset_t signals_;
  support::FileDescriptor signal_fd_;
  support::FileDescriptor parent_fd_;
  support::WakePipe stop_;
  std::thread thread_;
};

pid_t TerminationWatch::PrepareProcess() {
  const pid_t parent = ::getppid();
  const sigset_t signals = TerminationSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) (void)::signal(number, SIG_IGN);
  return parent;
}

TerminationWatch::TerminationWatch(pid_t parent,
                                   std::function<void(support::StopReason)> on_termination)
    : implementation_(std::make_unique<Implementation>(parent, std::move(on_termination))) {}

TerminationWatch::~TerminationWatch() = default;

}  // namespace commands
