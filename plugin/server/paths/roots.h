// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lima/mounts.h"
#include "support/paths.h"

/// Determines the directories that the agent may use, from Lima's mounts and the options of
/// `serve`.
namespace paths {

/// A directory that the agent may use. Paths are absolute and clean.
struct Root {
  std::string host;        ///< the path that the agent uses: the mount's location
  std::string guest = {};  ///< the mount's mountPoint
  bool writable = false;
  std::string resolved_host = {};   ///< `host` with its links resolved; empty if the same
  bool reads_may_be_stale = false;  ///< of lima::Mount
  std::string written_guest = {};   ///< the mountPoint as Lima compares it; empty if `guest`
  std::string writable_where = {};  ///< of lima::Mount
  bool is_guests_own = false;       ///< from `--allow-path`, not a mount
  std::string narrowed_from = {};   ///< from `--root` below a mount: that mount's mountPoint
};

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
      deepest = Match{value, *below};
    }
    return deepest;
  }

  [[nodiscard]] std::vector<std::string> Directories() const {
    std::vector<std::string> directories;
    for (const auto& [directory, value] : entries_) directories.push_back(directory);
    return directories;
  }

 private:
  std::vector<std::pair<std::string, std::size_t>> entries_;
};

/// The paths that the roots of `--root` and `--allow-path` first resolved to in the guest. These
/// roots are ordinary directories, which a command can replace with a link, so the first resolution
/// holds while this program runs, even after a reconnect. Thread-safe.
class PinnedRoots {
 public:
  [[nodiscard]] std::optional<std::string> Find(const Root& root);

  /// Returns the first resolution; keeps `resolved` if there is none yet.
  std::string Pin(const Root& root, const std::string& resolved);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> first_;  // by guest path
};

/// `--allow-path DIR[:w]`: a directory of the guest; agents use its guest path. Throws
/// support::Error if DIR is not absolute, or ends in a mode other than :w.
Root ParseAllowedPath(const std::string& value);

/// `--root DIR`: a directory of the host, the only part of its mount that may be used. Has only the
/// host's paths. Links are resolved only once, here, because the guest may change those in a
/// writable mount. Relative directories are relative to the working directory. Throws
/// support::Error for "" and for anything but a directory, if this host has it.
Root ParseNarrowedRoot(const std::string& value);

struct RootOptions {
  std::vector<Root> narrowed_roots;  ///< `--root`; empty for every mount
  std::vector<Root> allowed_paths;   ///< `--allow-path`
};

/// "/a (writable), /b (read-only)"
std::string FormatRoots(const std::vector<Root>& roots);

/// Finds roots by their host paths, as written and resolved. If a directory is one root's written
/// path and another's resolved path, it belongs to the former.
DirectoryIndex IndexByHostPath(const std::vector<Root>& roots);

/// One root for each mount.
std::vector<Root> RootsOfMounts(const std::vector<lima::Mount>& mounts);

/// The mounts, narrowed by `--root`, and the allowed paths. A narrowed root has the permissions of
/// its mount, which is found by the written path, or else by the resolved one. Mounts nested in it
/// remain roots. Throws support::Error, with the mounts, for a `--root` outside all of them.
std::vector<Root> SelectRoots(const std::vector<lima::Mount>& mounts, const RootOptions& options);

}  // namespace paths
