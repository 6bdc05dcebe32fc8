#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tools/path_rules.h"

namespace connection {

/// Where the roots that are no mounts (`--root`, `--allow-path`) led in the guest when it was first
/// asked. They are ordinary directories, which a command in the guest can replace by links; the
/// user chose what they were, so that it counts for as long as this program runs, over every
/// reconnection. Thread-safe.
class PinnedRoots {
 public:
  /// What the guest resolved `root` to the first time; nothing before it did.
  [[nodiscard]] std::optional<std::string> Find(const tools::Root& root) const;

  /// The first time counts.
  void Pin(const tools::Root& root, const std::string& resolved);

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::string> first_;  // of host and guest path
};

}  // namespace connection
