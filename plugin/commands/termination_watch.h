#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "support/context.h"

namespace commands {

/// Watches for what should end the program from outside: SIGTERM, SIGINT and SIGHUP (kTerminated),
/// and the death of the parent process (kEndOfInput). limactl forwards no signal: an agent that
/// kills limactl leaves this program with a standard input that may stay open for ever.
class TerminationWatch {
 public:
  /// Returns the id of the parent process, for the watch: call it as early as can be, since one
  /// that has died before cannot be told from init.
  ///
  /// Call it before the first thread is started: the signals are blocked in the calling thread and
  /// in all threads that it starts later, so that the watch alone receives them. SIGPIPE and
  /// SIGXFSZ are ignored from then on, so that a reader that went away, and a file that has reached
  /// the limit of setrlimit(2), are errors of write() and not the end of the program.
  [[nodiscard]] static pid_t PrepareProcess();

  /// `on_termination` is called in a thread of the watch, at most once.
  TerminationWatch(pid_t parent, std::function<void(support::StopReason)> on_termination);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace commands
