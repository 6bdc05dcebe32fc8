#include <sys/event.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "commands/termination_watch.h"
#include "support/file_descriptor.h"

namespace commands {
namespace {

constexpr std::array<int, 3> kSignals = {SIGTERM, SIGINT, SIGHUP};
constexpr uintptr_t kStopEvent = 1;

support::FileDescriptor OpenQueue() {
  support::FileDescriptor queue(::kqueue());
  if (!queue.valid()) throw std::system_error(errno, std::generic_category(), "kqueue");
  return queue;
}

void Control(int queue, const struct kevent& change, const char* what) {
  if (::kevent(queue, &change, 1, nullptr, 0, nullptr) < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
}

}  // namespace

class TerminationWatch::Implementation {
 public:
  Implementation(pid_t parent, std::function<void(support::StopReason)> on_termination)
      : on_termination_(std::move(on_termination)), queue_(OpenQueue()) {
    struct kevent change {};
    for (const int number : kSignals) {
      EV_SET(&change, static_cast<uintptr_t>(number), EVFILT_SIGNAL, EV_ADD, 0, 0, nullptr);
      Control(queue_.get(), change, "kevent for signals");
    }
    // kqueue sees a signal even when it is ignored, and ignoring keeps it from ending the program.
    // Not before: nobody would ever hear of one that came in between.
    for (const int number : kSignals) (void)::signal(number, SIG_IGN);
    EV_SET(&change, kStopEvent, EVFILT_USER, EV_ADD, 0, 0, nullptr);
    Control(queue_.get(), change, "kevent for stopping");
    EV_SET(&change, static_cast<uintptr_t>(parent), EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, nullptr);
    // A parent that has died cannot be watched any more, or its id is another's by now: that is its
    // death, seen late.
    parent_is_gone_ =
        (::kevent(queue_.get(), &change, 1, nullptr, 0, nullptr) < 0 && errno == ESRCH) ||
        ::getppid() != parent;
    thread_ = std::thread([this] { Watch(); });
  }

  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  ~Implementation() {
    struct kevent change {};
    EV_SET(&change, kStopEvent, EVFILT_USER, 0, NOTE_TRIGGER, 0, nullptr);
    ::kevent(queue_.get(), &change, 1, nullptr, 0, nullptr);
    thread_.join();
  }

 private:
  void Watch() const {
    if (parent_is_gone_) return on_termination_(support::StopReason::kEndOfInput);
    struct kevent event {};
    while (::kevent(queue_.get(), nullptr, 0, &event, 1, nullptr) < 0) {
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "kevent");
    }
    if (event.filter == EVFILT_USER) return;
    on_termination_(event.filter == EVFILT_SIGNAL ? support::StopReason::kTerminated
                                                  : support::StopReason::kEndOfInput);
  }

  std::function<void(support::StopReason)> on_termination_;
  support::FileDescriptor queue_;
  bool parent_is_gone_ = false;
  std::thread thread_;
};

pid_t TerminationWatch::PrepareProcess() {
  const pid_t parent = ::getppid();
  for (const int number : {SIGPIPE, SIGXFSZ}) (void)::signal(number, SIG_IGN);
  return parent;
}

TerminationWatch::TerminationWatch(pid_t parent,
                                   std::function<void(support::StopReason)> on_termination)
    : implementation_(std::make_unique<Implementation>(parent, std::move(on_termination))) {}

TerminationWatch::~TerminationWatch() = default;

}  // namespace commands
