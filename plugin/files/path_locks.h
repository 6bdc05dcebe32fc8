#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "support/context.h"

namespace files {

/// Lets one call at a time change a file: agents send several edits of one file at once, and of two
/// that read before either has written, one would be lost. Thread-safe.
class PathLocks {
 public:
  /// Holds a path until it is destroyed. The PathLocks must outlive it.
  class Lock {
   public:
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock();

   private:
    friend class PathLocks;
    Lock(PathLocks& locks, std::string path) : locks_(locks), path_(std::move(path)) {}
    PathLocks& locks_;
    std::string path_;
  };

  /// Waits until nobody holds `path`, as the guest resolved it. Throws support::Stopped.
  [[nodiscard]] Lock Acquire(const std::string& path, const support::Context& context);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> held_;
};

}  // namespace files
