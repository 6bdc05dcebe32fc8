#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "shell/process.h"
#include "support/context.h"

namespace shell {

/// The SSH connections of long-running processes, apart from the one for files and commands: sshd
/// allows a connection ten channels. They are opened on demand; the last process that holds one
/// closes it. Thread-safe.
class LauncherPool {
 public:
  /// Processes on one connection.
  static constexpr long kMostProcesses = 8;

  /// Opens a connection. Throws support::CallError.
  using Open = std::function<std::shared_ptr<Launcher>(const support::Context&)>;

  explicit LauncherPool(Open open) : open_(std::move(open)) {}

  /// For one process, which must hold it until its end. Throws what Open throws, support::Stopped.
  std::shared_ptr<Launcher> Take(const support::Context& context);

  /// The guest's sshd allows this connection no more processes than have taken it, less this one.
  /// False if that leaves none.
  bool MarkFull(const std::shared_ptr<Launcher>& launcher);

 private:
  struct Entry {
    std::weak_ptr<Launcher> launcher;
    bool full = false;
  };

  Open open_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  bool opening_ = false;
};

}  // namespace shell
