// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "git/git.h"

namespace copy {

using git::Git;

struct Target;

/// Work that the copy has and the host has not, as the guest reports it.
struct Untaken {
  /// A branch, tag or stash, or the HEAD of another working tree.
  struct Ref {
    std::string name;  ///< such as "feat", "tags/v1", "stash-1"; any bytes
    std::string id;    ///< of a commit
    /// "refs/heads/feat", "refs/tags/v1"; "refs/stash-1" of a stash, "refs/worktree-x" of a HEAD
    std::string source;
  };
  /// Work that `take` cannot bring.
  struct Rest {
    std::string kind;  ///< of untaken.sh, or "copy" of another project
    std::string name;  ///< printable
  };

  std::uint64_t commits = 0;  ///< of HEAD
  std::uint64_t files = 0;    ///< of the working tree and HEAD
  std::vector<Ref> refs = {};
  std::vector<Rest> rest = {};
  std::vector<std::string> gone = {};  ///< branches of the user that had some of it
  std::vector<Rest> notes = {};        ///< what to know besides

  [[nodiscard]] bool has_work() const { return commits + files > 0; }
  [[nodiscard]] bool empty() const { return !has_work() && refs.empty() && rest.empty(); }
  /// Whether an operation of git is not finished, or files are not in the work.
  [[nodiscard]] bool IsUnfinished() const;
  /// "3 commits, 2 files, branch feat, newlib"
  [[nodiscard]] std::string Summary() const;
};

/// "feat" of "refs/heads/feat", else without "refs/".
std::string RefName(std::string ref);

/// Those of the commits that a ref of the user's repository has.
std::set<std::string> Held(const Target& target, std::vector<std::string> ids);

/// Leaves out what a ref of the user's repository has, and adds copies of other projects in it.
void CompareWithHost(const Target& target, const std::string& work, Untaken& untaken);

/// Commands for the user that bring files to a new directory, without any .git, or all refs to a
/// new file. Nothing that is there is overwritten, and nothing of the guest runs here.
std::string FilesCommand(const std::string& instance, const std::string& directory);
std::string BundleCommand(const std::string& instance, const std::string& directory);

/// Lines for the user: how to get what `take` cannot bring, and Untaken::notes.
std::vector<std::string> RestLines(const Target& target, const Untaken& untaken);

}  // namespace copy
