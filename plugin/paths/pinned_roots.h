#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "paths/path_rules.h"

namespace paths {

/// Where the roots that are no mounts (`--root`, `--allow-path`) led in the guest when it was first
/// asked. They are ordinary directories, which a command in the guest can replace by links; the
/// user chose what they were, so that it counts for as long as this program runs, over every
/// reconnection. Copies share what they know. Thread-safe.
class PinnedRoots {
 public:
  /// What the guest resolved `root` to the first time; nothing before it did.
  [[nodiscard]] std::optional<std::string> Find(const paths::Root& root) const;

  /// The first time counts: returns what `root` was resolved to then.
  std::string Pin(const paths::Root& root, const std::string& resolved) const;

 private:
  struct State {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::string> first;  // of host and guest path
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace paths
