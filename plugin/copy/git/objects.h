// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "git/git.h"

/// What a repository has, as values. Each function throws support::Error if git fails, or
/// there is more than 128 MiB or kMaxEntries; with `is_cut`, that is set instead, and it returns a
/// part.
namespace git {

/// The mode of a tree's entry that is a repository of its own.
inline constexpr std::string_view kRepositoryMode = "160000";
/// The mode of a path without an entry.
inline constexpr const char* kNoEntry = "000000";

/// A path that differs: its modes and ids on both sides.
struct RawChange {
  std::string path;
  std::string old_mode;
  std::string mode;
  std::string id;
  std::string old_id;
};

/// The records of `git diff --raw -z`.
std::vector<RawChange> ParseRaw(std::string_view raw);

/// Gets the next piece of a patch for `git apply`. Returns false if it wants no more.
using PatchSink = std::function<bool(std::string_view)>;

/// What differs between two trees or commits. `options`: further ones of `git diff-tree`. With
/// `patch`, it gets the patch.
std::vector<RawChange> Diff(const Git& git, const std::string& from, const std::string& to,
                            const Git::Arguments& options = {}, const PatchSink& patch = {});

inline constexpr std::size_t kMaxEntries = 1'000'000;

struct TreeEntry {
  std::string path;
  std::string mode;
  std::string id;
  std::uint64_t size = 0;  ///< of a file
};

using TreeEntries = std::vector<TreeEntry>;

/// All entries of a tree or commit, a directory before what is in it.
TreeEntries Tree(const Git& git, const std::string& id, bool* is_cut = nullptr);

/// The contents of those objects that have at most `max_size` bytes, by id.
std::map<std::string, std::string> Contents(const Git& git, const std::vector<std::string>& ids,
                                            std::uint64_t max_size, bool* is_cut = nullptr);

/// The `ids` that are commits which git has.
std::vector<std::string> Existing(const Git& git, const std::vector<std::string>& ids);

}  // namespace git
