// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "exposure/notes.h"
#include "git/git.h"

namespace copy {

using git::Git;

class SideRepository;

/// Work that the copy has and the host has not, as the guest reports it.
struct Untaken {
  /// A branch, tag or stash, or the HEAD of another working tree.
  struct Ref {
    std::string id;  ///< of a commit
    /// "refs/heads/feat", "refs/tags/v1"; "refs/stash-1" of a stash, "refs/worktree-x" of a HEAD;
    /// any bytes
    std::string source;
  };
  /// Work that `take` cannot bring.
  struct Rest {
    std::string kind;  ///< of untaken.sh
    std::string name;  ///< printable
  };

  std::uint64_t commits = 0;  ///< of HEAD
  std::uint64_t files = 0;    ///< of the working tree and HEAD
  std::vector<Ref> refs = {};
  std::vector<Rest> rest = {};
  std::vector<Rest> notes = {};  ///< what to know besides

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
std::set<std::string> Held(const SideRepository& side, std::vector<std::string> ids);

/// Leaves out what a ref of the user's repository has, and adds copies of other projects in it.
void CompareWithHost(const SideRepository& side, const std::string& work, Untaken& untaken);

/// Commands for the user that bring files to a new directory, without any .git, or all refs to a
/// new file. Nothing that is there is overwritten, and nothing of the guest runs here.
std::string FilesCommand(const std::string& instance, const std::string& directory);
std::string BundleCommand(const std::string& instance, const std::string& directory);

/// How to get what `take` cannot bring, and Untaken::notes.
exposure::Notes NotesOnRest(const SideRepository& side, const Untaken& untaken);

/// The summary, if anything was not taken, and that.
exposure::Notes NotesOn(const SideRepository& side, const Untaken& untaken);

}  // namespace copy
