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
    entries_.emplace_back(std::move(directory), value);
  }

  [[nodiscard]] std::optional<Match> Find(std::string_view path) const {
    std::optional<Match> deepest;
    for (const auto& [directory, value] : entries_) {
      const auto below = support::PathBelow(path, directory);
      if (!below || (deepest && deepest->rest.size() <= below->size())) continue;
      deepest = Match{value, std::string(*below)};
    }
    return deepest;
  }

 private:
  std::vector<std::pair<std::string, std::size_t>> entries_;
};

}  // namespace paths
