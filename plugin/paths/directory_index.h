#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/paths.h"

namespace paths {

/// Finds the deepest of several directories that contains a path, on whole components. All paths
/// are absolute and clean.
class DirectoryIndex {
 public:
  struct Match {
    std::size_t value;
    std::string rest;  ///< the path below the directory; empty for the directory itself
  };

  /// `value` is the caller's number for the directory. If a directory is added twice, the first
  /// wins.
  void Add(std::string directory, std::size_t value) {
    entries_.push_back({std::move(directory), value});
  }

  [[nodiscard]] std::optional<Match> Find(std::string_view path) const {
    const Entry* deepest = nullptr;
    std::string_view rest;
    for (const Entry& entry : entries_) {
      if (deepest != nullptr && entry.directory.size() <= deepest->directory.size()) continue;
      const auto below = support::PathBelow(path, entry.directory);
      if (!below) continue;
      deepest = &entry;
      rest = *below;
    }
    if (deepest == nullptr) return std::nullopt;
    return Match{deepest->value, std::string(rest)};
  }

 private:
  struct Entry {
    std::string directory;
    std::size_t value;
  };
  std::vector<Entry> entries_;
};

}  // namespace paths
