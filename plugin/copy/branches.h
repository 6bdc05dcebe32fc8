// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "copy/side_repository.h"

/// What `take` makes of the work in a copy. Each function throws support::Error.
namespace copy {

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
/// letters, digits and `_./+@-` replaced, unless that is the user's own branch. In a named copy,
/// that is INSTANCE/ and the copy's name.
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

  /// Adds the objects to the user's repository, in one pack, and sets all branches, or none.
  void Set(SideRepository& side, const std::vector<Branch>& branches) const;

 private:
  [[nodiscard]] bool MayMove(const std::string& name, const Source& source, bool is_named) const;

  const Git& users_;
  const SideRepository& side_;
  std::map<std::string, TakenBranch> taken_;
  std::set<std::string> checked_out_;
  std::map<std::string, std::string> ids_;    ///< by branch
  std::map<std::string, std::string> names_;  ///< of these and the chosen ones, by lower case
  std::set<std::string> chosen_;
};

/// A line for each branch: what it has that was not sent, and how far it is behind. The work is
/// compared with `from`, others with the commit where they leave what was sent.
std::vector<std::string> Describe(const SideRepository& side, const std::string& from,
                                  const std::vector<Branch>& branches);

}  // namespace copy
