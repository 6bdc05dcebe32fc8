// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "copy/guest_copy.h"
#include "copy/project.h"
#include "copy/side_repository.h"
#include "git/git.h"

/// Work in a copy: what the commands do. Each function throws support::Error.
namespace copy {

using git::Git;

/// Makes the copy, or replaces it by the working tree if everything in it was taken. Returns lines
/// for the user. After a failure or kill, the next call does it again.
std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot, const Git& users);

/// `--max-size` by default.
inline constexpr std::uint64_t kMaxSize = std::uint64_t{2} << 30;

enum class Refs {
  kWorkOnly,
  kAll,  ///< also Untaken::refs
};

/// Brings the guest's working tree into the side repository, as the ref "work". The pack goes into
/// a quarantine. If it is not complete, valid commits with names that a working tree can have, it
/// is deleted.
GuestState Fetch(const Target& target, std::uint64_t max_size, Refs refs);

/// Throws unless a branch can have this name.
void RequireBranchName(const Git& users, const std::string& name);

/// A branch of the user, and its commit; empty if it is new.
struct Branch {
  std::string name;
  std::string old;
};

/// The user's branches that may move.
enum class Move {
  kForward,  ///< those that are an ancestor, or what was put there since the copy was sent
  kOurs,     ///< of these, those that TakeBranch has set last
};

/// `name` if that is new or has the commit `id`, or may move and nobody works on it; else `name`-2
/// and so on.
Branch ChooseBranch(const Git& users, const SideRepository& side, const std::string& name,
                    const std::string& id, Move move);

/// Adds the objects of a commit to the user's repository, in one pack, and sets the branch to it.
void SetBranch(const Git& users, SideRepository& side, const Branch& branch, const std::string& id);

/// Whether `git merge` of the work would refuse, because of changes in the user's working tree.
bool WouldMergeRefuse(const Git& users, const SideRepository& side);

/// Applies what changed since what was applied last to the user's working tree, with the user's
/// `git apply`: all, or every file is put back. A patch above `max_size` is refused.
void ApplyWork(const Git& users, SideRepository& side, std::uint64_t max_size);

/// Puts the working tree back if ApplyWork was killed. Returns a sentence for the user, or nothing.
/// Throws support::Error if that is not possible.
std::string UndoInterruptedApply(const SideRepository& side);

/// The commit to compare work with: the one that was sent, or, if the user's gc has deleted it, the
/// commit below it, or an empty tree.
std::string SentOrOlder(const SideRepository& side);

/// How many files differ between two commits.
std::size_t CountChanged(const SideRepository& side, const std::string& from,
                         const std::string& to);

/// Writes the changes from a commit to "work", for `git apply`. Throws support::CommandError if it
/// has more than `max_size` bytes.
void WritePatch(const SideRepository& side, const std::string& from,
                const std::filesystem::path& file, std::uint64_t max_size);

/// Prints the differences between `sides`. To a terminal: readable, through a pager, nothing of it
/// raw. Else as a patch for `git apply`. With `only_names`: names and numbers of lines.
void PrintDiff(const Git& git, const Git::Arguments& sides, bool only_names);

/// A part of git's output for a terminal: lines that are printable, bounded, and coloured by their
/// first characters. Keeps the incomplete line in `rest`.
std::string TerminalLines(std::string_view bytes, std::string& rest);

/// Asks the guest what has not been taken yet. Its reply is not verified. Changes nothing.
GuestState QueryUntaken(const Target& target);

/// Deletes the copy in the guest and the side repository. Throws if an agent works in it, or,
/// without `force`, if something was not taken. Returns lines for the user. Never deletes a
/// directory that has not the copy's marker.
std::vector<std::string> Drop(const Target& target, bool force);

}  // namespace copy
