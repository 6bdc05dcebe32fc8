// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <thread>

#include "support/context.h"
#include "support/pipe.h"

namespace commands {

/// Watches for SIGTERM, SIGINT and SIGHUP (kTerminated), and for the death of the parent process
/// (kEndOfInput): limactl forwards no signals, so an agent that kills limactl leaves this program
/// with a standard input that may stay open forever.
class TerminationWatch {
 public:
  /// Returns the parent's process id, for the watch. Call it early, before any thread starts: it
  /// blocks those signals for all of them, so that only the watch receives them. Ignores SIGPIPE
  /// and SIGXFSZ, so that a closed pipe and a full file (setrlimit(2)) are errors of write().
  [[nodiscard]] static pid_t PrepareProcess();

  /// Calls `on_termination` at most once, in a thread of the watch.
  TerminationWatch(pid_t parent, std::function<void(support::StopReason)> on_termination);
  ~TerminationWatch();
  TerminationWatch(const TerminationWatch&) = delete;
  TerminationWatch& operator=(const TerminationWatch&) = delete;

 private:
  void Watch() const;

  std::function<void(support::StopReason)> on_termination_;
  pid_t parent_;
  support::WakePipe stop_;
  std::thread thread_;
};

}  // namespace commands
