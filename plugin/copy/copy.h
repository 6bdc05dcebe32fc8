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
/// that tell the user what was done. After a failure or kill, the next call does it again.
std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot, const Git& users);

/// `--max-size` by default.
inline constexpr std::uint64_t kMaxSize = std::uint64_t{2} << 30;

enum class Refs {
  kWorkOnly,
  kAll,  ///< also Untaken::refs
};

/// Brings what the guest's working tree is into the side repository, as the ref "work". What comes
/// is kept apart until it is known to be sound commits with everything that they need, and names
/// that a working tree can have; otherwise nothing of it is left.
GuestState Fetch(const Target& target, std::uint64_t max_size, Refs refs);

/// Throws if `name` is no name of a branch, or another branch is in its way.
void RequireBranchName(const Git& users, const std::string& name);

/// A branch of the user, and its commit; empty if it is new.
struct Branch {
  std::string name;
  std::string old;
};

/// Which branches of the user move.
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

/// What to compare `id` with: what was sent, or, if the user's gc has deleted that, the commit that
/// the copy began with, or an empty tree.
std::string SentOrOlder(const SideRepository& side);

/// How many files differ between two commits.
std::size_t CountChanged(const SideRepository& side, const std::string& from,
                         const std::string& to);

/// What changed from a commit to "work", for `git apply`. Throws support::CommandError if it has
/// more than `max_size` bytes.
void WritePatch(const SideRepository& side, const std::string& from,
                const std::filesystem::path& file, std::uint64_t max_size);

/// Prints what differs between `sides`. To a terminal: readable, through a pager, nothing of it
/// raw. Else as a patch for `git apply`. With `only_names`: names and numbers of lines.
void PrintDiff(const Git& git, const Git::Arguments& sides, bool only_names);

/// A part of git's output for a terminal: lines that are printable, bounded, and coloured by their
/// first characters. Keeps the incomplete line in `rest`.
std::string TerminalLines(std::string_view bytes, std::string& rest);

/// What the guest says that was not taken, unverified. Changes nothing.
GuestState Ask(const Target& target);

/// Deletes the copy in the guest and the side repository. Throws if an agent works in it, or,
/// without `force`, if something was not taken. Returns lines for the user. Never deletes a
/// directory that has not the copy's marker.
std::vector<std::string> Drop(const Target& target, bool force);

}  // namespace copy
