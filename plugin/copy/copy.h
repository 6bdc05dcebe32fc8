// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "copy/guest_copy.h"
#include "copy/instance.h"
#include "copy/project.h"
#include "copy/set_aside.h"
#include "copy/side_repository.h"
#include "exposure/commits.h"
#include "exposure/report.h"
#include "guest/guest.h"

/// Work in a copy: what the commands do. Each function throws support::Error.
namespace copy {

/// The copy of a project in an instance: this host's side of it, locked, and the guest.
class Copy {
 public:
  /// With a `verb` ("take"), there must be a copy, or one begun; "take --undo" and "drop --undo"
  /// also find what was set aside. Puts the working tree back if a `take --apply` was killed.
  /// `instance` must outlive this.
  Copy(const Instance& instance, const Choice& choice, const std::string& verb = "");

  [[nodiscard]] SideRepository& side() { return side_; }
  [[nodiscard]] const SideRepository& side() const { return side_; }
  [[nodiscard]] const std::string& project() const { return side_.facts().project; }
  [[nodiscard]] Git users() const { return Git::Users(side_.place().top, side_.lock()); }

  /// Whether this has put the working tree back, and has said so.
  [[nodiscard]] bool has_undone() const { return has_undone_; }

  /// Throws unless the copy was made before.
  void RequireSent();

  /// If the project is gone from its place, the repository of the current directory is it. Throws
  /// if that is not the same.
  void FollowProject();

  /// Connects to the guest, unless it is connected.
  void Connect();
  [[nodiscard]] guest::Guest& guest() const { return *guest_; }
  [[nodiscard]] const std::shared_ptr<guest::Guest>& connection() const { return guest_; }

  /// A report on changes, if they become `branch`, and of other branches, by their commits; see
  /// exposure::ReportOnCommits.
  [[nodiscard]] exposure::Report MakeReport(const exposure::CommitChanges& changes,
                                            const std::string& branch) const;
  [[nodiscard]] exposure::Report MakeReport(
      const std::string& from, const std::string& to, const std::string& branch,
      const std::map<std::string, std::string>& others = {}) const;

  /// A report on all that `take` would bring: the work, and the branches that it would make of the
  /// copy's other refs.
  [[nodiscard]] exposure::Report MakeReport(const GuestState& state) const;

  /// The branch that `take` would make of HEAD's work, if that is free. `head`: as the guest
  /// reports it; empty: as it was sent.
  [[nodiscard]] std::string DefaultBranch(const std::string& head = "") const;

 private:
  void UndoInterruptedApply();

  const Instance& instance_;
  SideRepository side_;
  std::shared_ptr<guest::Guest> guest_;
  bool has_undone_ = false;
};

/// The names of the project's copies in the instance; that of the one without a name is empty.
std::vector<std::string> ListNames(const Instance& instance, const Choice& choice);

/// The answer to a question; nothing without a terminal.
using Ask = std::function<std::optional<bool>(const std::string& question)>;

/// What `copy` and `run` want besides.
struct SendOptions {
  std::optional<std::string> setup = {};  ///< a new set-up command; empty: none any more
  bool sets_up_again = false;
  std::vector<std::string> include = {};  ///< of `--include`
  Ask ask = {};                           ///< may be empty
};

/// Makes the copy, or replaces it by the working tree if everything in it was taken. Returns what
/// was done. After a failure or kill, the next call does it again.
exposure::Notes Send(Copy& copy, const SendOptions& options);

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
GuestState Fetch(Copy& copy, std::uint64_t max_size, Refs refs);

/// Brings these checkpoints in the same way, but only for as long as `use` runs.
void FetchCheckpoints(Copy& copy, const std::vector<std::string>& ids, std::uint64_t max_size,
                      const std::function<void(const Git&)>& use);

/// Sets the copy aside, in the guest and here. Throws if an agent works in it, or, without `force`,
/// if something was not taken. Never moves a directory that has not the copy's marker. Like the
/// next two, returns a line for the user, and prints what to know on standard error.
std::string Drop(Copy& copy, bool force);

/// Deletes the copy if it was taken. With `force`, in any case, and what is set aside of this
/// project.
std::string Purge(Copy& copy, bool force);

/// Puts the newest that is set aside back; a copy that is there is set aside in its place.
std::string UndoDrop(Copy& copy);

/// Deletes what was set aside in this instance longer than kKept ago. A failure is a warning.
void DeleteOld(Copy& copy);

}  // namespace copy
