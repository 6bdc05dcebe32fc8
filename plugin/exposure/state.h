// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exposure/host_programs.h"
#include "exposure/report.h"

/// The state of a project on a mount, where the guest may have planted anything: git does not run
/// there, and outside of the mount only links are read.
namespace exposure {

struct Item {
  std::string mode;   ///< as in a tree of git
  std::string value;  ///< of a link or setting, or a digest

  bool operator==(const Item& other) const = default;
};

/// The files of a project that programs of the host run or obey; links that lead out; names with
/// invisible characters.
struct State {
  /// Key: path, and the git setting (or kPathKey, kHomeKey) that makes the path count; empty if the
  /// path itself does.
  std::map<std::pair<std::string, std::string>, Item> items;
  bool is_cut = false;  ///< there is more than was examined
};

/// What is beyond is not examined. Each configuration counts as 256 KiB, each item as 300 bytes
/// more than it has, paths with their length.
struct Bounds {
  std::size_t entries = 2'000'000;             ///< that are listed
  std::size_t bytes = std::size_t{256} << 20;  ///< that are read or kept
};

/// Reads the project at `top`, what its directories up to `mount` have themselves, and what links,
/// `.git` files and settings name on the mount. Paths above `top` begin with "../". First what runs
/// soonest: .git, the top level, and directories of `search_path` (the user's PATH); then level by
/// level, until a bound is met. Of a `.git` everything counts that is not known to be data.
State ReadState(const std::filesystem::path& top, const std::filesystem::path& mount,
                const HostPrograms& programs, const std::string& search_path,
                const Bounds& bounds = {});

/// The differences, for a report. A path that was not examined does not count as deleted.
std::vector<Change> Compare(const State& before, const State& after);

/// Fields that end with NUL: four for each item.
std::string Serialize(const State& state);

/// The file's text; nothing if it is no regular file, cannot be read, or has more than `limit`
/// bytes.
std::optional<std::string> ReadRegularFile(const std::filesystem::path& file, std::size_t limit);

}  // namespace exposure
