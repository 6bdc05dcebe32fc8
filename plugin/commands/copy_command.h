// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/option_parser.h"
#include "connection/instance_opener.h"
#include "copy/guest_copy.h"
#include "copy/side_repository.h"
#include "exposure/commits.h"
#include "exposure/report.h"

/// Shared by `copy`, `diff`, `take` and `drop`.
namespace commands {

/// `--copy-dir` of `copy` and `run`; empty if it is not given. Throws Error.
std::string ReadCopyDirectory(const Parsed& parsed);

/// The top of the working tree of git that holds the current directory. Throws Error if that
/// is the user's home directory: an agent would get all of it.
std::string FindProjectTop();

/// `--max-size` of `diff` and `take`. Throws Error.
std::uint64_t ReadMaxSize(const Parsed& parsed);

/// The copy of a project in an instance, and this command's lock on it.
class CopyCommand {
 public:
  /// Empty `project`: the repository of the current directory. Empty `directory`: where the copy
  /// is, or the project's own path. With a `verb` ("take"), there must be a copy, or one begun;
  /// "take --undo" also finds what was set aside last. Throws support::Error.
  CopyCommand(const std::string& instance, const std::string& project,
              const std::string& directory = "", const std::string& verb = "");

  [[nodiscard]] const std::string& project() const { return side_->facts().project; }
  [[nodiscard]] copy::SideRepository& side() { return *side_; }
  [[nodiscard]] const copy::SideRepository& side() const { return *side_; }
  [[nodiscard]] git::Git users() const;

  /// Throws support::Error unless the copy was made before.
  void RequireCopy();

  /// If the project is gone from its place, the repository of the current directory is it. Throws
  /// support::Error if that is not the same.
  void FollowProject();

  /// A report on changes, if they become `branch`, and of other branches, by their commits; see
  /// exposure::ReportOnCommits.
  [[nodiscard]] exposure::Report MakeReport(const exposure::CommitChanges& changes,
                                            const std::string& branch) const;
  [[nodiscard]] exposure::Report MakeReport(
      const std::string& from, const std::string& to, const std::string& branch,
      const std::map<std::string, std::string>& others = {}) const;

  /// A report on all that `take` would bring: the work, and the branches that it would make of the
  /// copy's other refs.
  [[nodiscard]] exposure::Report MakeReport(const copy::GuestState& state) const;

  /// On standard error, with how to get what `take` cannot bring.
  void PrintUntaken(const copy::Target& target, const copy::Untaken& untaken) const;

  /// The branch that `take` would make of HEAD's work, if that is free. `head`: as the guest
  /// reports it; empty: as it was sent.
  [[nodiscard]] std::string DefaultBranch(const std::string& head = "") const;

  /// Whether this has put the working tree back, after a killed command.
  [[nodiscard]] bool has_undone() const { return has_undone_; }

  /// Connects to the instance. Valid as long as this object.
  copy::Target OpenTarget();

 private:
  void UndoInterruptedApply();

  connection::InstanceOptions options_;
  std::optional<copy::SideRepository> side_;
  bool has_undone_ = false;
  std::optional<tools::Workspace> workspace_;
};

/// Makes the copy, or refreshes it if all work in it was taken. Says on standard error what was
/// done.
void SendCopy(CopyCommand& command);

}  // namespace commands
