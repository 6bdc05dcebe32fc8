// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "copy/guest_copy.h"
#include "copy/project.h"
#include "copy/side_repository.h"
#include "git/objects.h"

/// Work in a copy: what the commands do. Each function throws support::Error.
namespace copy {

using git::Git;

/// Makes the copy, or replaces it by the working tree if everything in it was taken. Returns lines
/// for the user. After a failure or kill, the next call does it again.
std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot);

/// `--max-size` by default.
inline constexpr std::uint64_t kMaxSize = std::uint64_t{2} << 30;

enum class Refs {
  kWorkOnly,
  kUncounted,  ///< only the work, and Untaken says nothing of it
  kAll,        ///< also Untaken::refs
};

/// Brings the guest's working tree into the side repository, as the ref "work". The pack goes into
/// a quarantine. If it is not complete, valid commits with names that a working tree can have, it
/// is deleted.
GuestState Fetch(const Target& target, std::uint64_t max_size, Refs refs);

/// Throws unless a branch can have this name.
void RequireBranchName(const Git& users, const std::string& name);

/// What `take` makes a branch of.
struct Source {
  std::string ref;     ///< as Untaken::Ref has it, or "detached": a HEAD without a branch
  std::string id;      ///< of a commit
  std::string branch;  ///< that it gets if that is free

  [[nodiscard]] bool is_stash() const { return ref.starts_with("refs/stash"); }
};

/// The source for a ref, or "detached". Its branch is INSTANCE/NAME, with other characters than
/// letters, digits and `_./+@-` replaced, unless that is the user's own branch.
Source MakeSource(const SideRepository& side, const std::string& ref, const std::string& id);

/// A branch of the user that is to be set to the commit of a source.
struct Branch {
  std::string name;
  std::string old;  ///< its commit; empty if it is new
  Source source;
};

/// The user's branches, and what one `take` sets. A source has branches of its own, which the facts
/// name.
class Branches {
 public:
  /// Both must outlive this object.
  Branches(const Git& users, const SideRepository& side);

  /// The wanted branch if it is new, has the commit, or may move, and no other source has it; else
  /// with "-2" and so on. It may move if this source has set it, or, unless the user named it, if
  /// it is an ancestor and no source has set it; but not while it is checked out. Throws
  /// support::Error if another branch is in the way.
  Branch Choose(const Source& source, bool is_named);

  /// Throws support::Error if a branch is in the way of one with this name.
  void RequireWay(const std::string& name) const;

  /// Adds the objects to the user's repository, in one pack, and sets all branches, or none.
  void Set(SideRepository& side, const std::vector<Branch>& branches) const;

 private:
  [[nodiscard]] bool MayMove(const std::string& name, const Source& source, bool is_named) const;

  const Git& users_;
  const SideRepository& side_;
  std::map<std::string, TakenBranch> taken_;
  std::set<std::string> in_work_;
  std::map<std::string, std::string> ids_;    ///< by branch
  std::map<std::string, std::string> names_;  ///< of these and the chosen ones, by lower case
  std::set<std::string> chosen_;
};

/// A line for each branch: what it has that was not sent, and how far it is behind. The work is
/// compared with `from`, others with the commit where they leave what was sent.
std::vector<std::string> Describe(const SideRepository& side, const std::string& from,
                                  const std::vector<Branch>& branches);

/// The commit to compare work with: the one that was sent, or, if the user's gc has deleted it, the
/// commit below it, or an empty tree.
std::string SentOrOlder(const SideRepository& side);

/// How many files differ between two commits.
std::size_t CountChanged(const SideRepository& side, const std::string& from,
                         const std::string& to);

/// Prints the differences between `sides`. To a terminal: readable, through a pager, nothing of it
/// raw. Else as a patch for `git apply`. With `only_names`: names and numbers of lines.
void PrintDiff(const Git& git, const Git::Arguments& sides, bool only_names);

/// A part of git's output for a terminal: lines that are printable, bounded, and coloured by their
/// first characters. Keeps the incomplete line in `rest`.
std::string TerminalLines(std::string_view bytes, std::string& rest);

/// Asks the guest what has not been taken yet. Its reply is not verified. Changes nothing.
GuestState QueryUntaken(const Target& target);

/// Sets the copy aside, in the guest and here. Throws if an agent works in it, or, without `force`,
/// if something was not taken. Never moves a directory that has not the copy's marker. Like the
/// next two, returns a line for the user, and prints what to know on standard error.
std::string Drop(const Target& target, bool force);

/// Deletes the copy and what is set aside of this project, unless that was not taken.
std::string Purge(const Target& target, bool force);

/// Puts the newest that is set aside back; a copy that is there is set aside in its place.
std::string UndoDrop(const Target& target);

/// Deletes what was set aside in this instance longer than kKept ago. A failure is a warning.
void DeleteOld(const Target& target);

}  // namespace copy
