#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/atomic_write.h"
#include "tools/leftover_cleaner.h"
#include "tools/path_locks.h"
#include "tools/path_rules.h"

namespace tools {

/// What the tools that change files share, from the first call to the last. Thread-safe.
class FileWriter {
 public:
  FileWriter() = default;

  /// `on_change` is called whenever a file may have changed, on the thread of the call that wrote
  /// it; it must not throw.
  explicit FileWriter(std::function<void(guest::Guest&)> on_change)
      : on_change_(std::move(on_change)) {}

  /// To be held from the first look at a file's content until it has been written.
  [[nodiscard]] PathLocks::Lock Lock(const ResolvedPath& path, const support::Context& context) {
    return locks_.Acquire(path.guest, context);
  }

  /// WriteWhole (atomic_write.h), watched over by the connection's LeftoverCleaner. The first write
  /// in a directory also sweeps it: two round trips more. `last_look`: see WriteHelpers.
  void Write(const ResolvedPath& target, std::string_view content, LeftBehind& left_behind,
             const std::shared_ptr<guest::Guest>& guest, const support::Context& context,
             const std::function<void()>& last_look = {});

 private:
  std::shared_ptr<LeftoverCleaner> CleanerOf(const std::shared_ptr<guest::Guest>& guest);

  std::function<void(guest::Guest&)> on_change_;  ///< may be empty
  PathLocks locks_;
  std::mutex mutex_;  // of what follows
  std::weak_ptr<guest::Guest> guest_;
  std::shared_ptr<LeftoverCleaner> cleaner_;  ///< of `guest_`
};

}  // namespace tools
