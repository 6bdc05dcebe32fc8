// SPDX-License-Identifier: Apache-2.0
#include "copy/copy.h"

#include <csignal>
#include <filesystem>

#include "connection/instance_opener.h"
#include "connection/shared_connection.h"
#include "copy/apply.h"
#include "copy/branches.h"
#include "copy/diff.h"
#include "copy/lend.h"
#include "copy/served_copy.h"
#include "copy/take.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/words.h"

namespace copy {
namespace {

namespace fs = std::filesystem;

/// The top of the working tree in the current directory. With `has_copy`, that of a copy is found
/// without git.
std::string FindTop(const fs::path& instance_directory, const std::string& name, bool has_copy) {
  const auto top = has_copy ? FindRepository(fs::current_path()) : std::nullopt;
  const bool is_copied = top && SidePlace(instance_directory, top->string(), name).ReadFacts();
  return is_copied ? top->string() : FindProjectTop();
}

/// Branches are files, and on some disks "Fix" and "fix" are one.
void RequireOtherName(const SidePlace& place) {
  for (const CopyFacts& facts : ListFacts(place.instance_directory)) {
    const bool is_same = support::LowerCase(facts.name) == support::LowerCase(place.name);
    if (facts.project != place.project || facts.name == place.name || !is_same) continue;
    throw support::Error(
        "there is a copy with the name {}; choose one that differs in more than case", facts.name);
  }
}

/// The constructor's arguments.
SidePlace FindPlace(const Instance& instance, const Choice& choice, const std::string& verb) {
  // Errors of write() instead: a program that stops reading, a limit on the size of files.
  (void)::signal(SIGPIPE, SIG_IGN);
  (void)::signal(SIGXFSZ, SIG_IGN);
  UseSafeSearchPath(instance.reach);
  const fs::path directory = instance.configuration.directory();
  const std::string& project = choice.project;
  SidePlace place(directory,
                  project.empty() ? FindTop(directory, choice.name, !verb.empty())
                                  : exposure::ResolvedOnHost(fs::absolute(project)),
                  choice.name);
  if (!project.empty()) place.arguments += " --project " + shell::ShellQuote(place.project);
  instance.RequireOutOfReach(place.repository);
  if (place.ReadFacts()) return place;
  if (verb.empty()) {
    RequireOtherName(place);
    return place;
  }
  const auto aside = ListSetAside(directory, &place);
  if (verb == "take --undo" && !aside.empty()) return PlaceOf(place, aside.front());
  if (verb == "drop --undo" && !aside.empty()) return place;
  if (!instance.reach.MountHolding(place.project)) throw support::Error(place.NoCopyText());
  throw support::Error("The project is mounted: there is nothing to {}. See: limactl mcp diff {}",
                       verb, place.instance);
}

}  // namespace

std::vector<std::string> ListNames(const Instance& instance, const Choice& choice) {
  const fs::path directory = instance.configuration.directory();
  const std::string project = choice.project.empty()
                                  ? FindTop(directory, "", true)
                                  : exposure::ResolvedOnHost(fs::absolute(choice.project));
  std::vector<std::string> names;
  for (const CopyFacts& facts : ListFacts(directory)) {
    if (facts.project == project) names.push_back(facts.name);
  }
  return names;
}

Copy::Copy(const Instance& instance, const Choice& choice, const std::string& verb)
    : instance_(instance), side_(FindPlace(instance, choice, verb), choice.directory) {
  UndoInterruptedApply();
  const auto aside = ListSetAside(side_.place().instance_directory, &side_.place());
  const bool is_aside = verb == "drop --undo" && side_.facts().sent.empty() && !aside.empty();
  RequireNoMount(instance.mounts, is_aside ? aside.front().facts : side_.facts(),
                 instance.configuration.name);
}

void Copy::UndoInterruptedApply() {
  std::error_code gone;
  if (!fs::exists(side_.place().top, gone)) return;
  const std::string undone = copy::UndoInterruptedApply(side_);
  if (undone.empty()) return;
  has_undone_ = true;
  support::LogWarning(undone);
}

void Copy::FollowProject() {
  std::error_code gone;
  if (fs::exists(project(), gone)) return;
  const std::string top = FindProjectTop();
  side_.Follow(ReadProject(top, Git::Users(top, side_.lock())));
  UndoInterruptedApply();
}

void Copy::RequireSent() {
  if (side_.facts().sent.empty()) throw support::Error(side_.place().NoCopyText());
  FollowProject();
}

void Copy::Connect() {
  if (guest_) return;
  guest_ = connection::ConnectGuestWithRetries(instance_.configuration.lima_home,
                                               instance_.configuration.name);
}

exposure::Report Copy::MakeReport(const exposure::CommitChanges& changes,
                                  const std::string& branch) const {
  const Git users = this->users();
  exposure::Report report =
      exposure::ReportOnCommits(changes, instance_.programs, users, side_.place().top, branch);
  if (!branch.empty() && !changes.list.empty() && HasLargeFiles(side_.git(), side_.facts().work)) {
    report.Add(
        "Note: of files of git LFS that were changed, only the pointers come; the files stay in "
        ".git/lfs/objects of the copy.");
  }
  if (!branch.empty()) AddOverwritten(users, changes.list, report);
  exposure::Notes lent;
  lent.AddSection("Lent by you, and in this:", FindLent(side_, changes.list));
  report.has_lent = !lent.empty() || (report.is_cut && !LentNames(side_.facts()).empty());
  report.AddFirst(lent);
  return report;
}

exposure::Report Copy::MakeReport(const std::string& from, const std::string& to,
                                  const std::string& branch,
                                  const std::map<std::string, std::string>& others) const {
  return MakeReport(exposure::ReadCommits(side_.git(), from, to, !branch.empty(), others, {}, {},
                                          LentIds(side_.facts())),
                    branch);
}

exposure::Report Copy::MakeReport(const GuestState& state) const {
  std::map<std::string, std::string> others;
  for (const Untaken::Ref& ref : state.untaken.refs) {
    others[ref.id] = MakeSource(side_, ref.source, ref.id).branch;
  }
  return MakeReport(SentOrNothing(side_), state.work, DefaultBranch(state.head), others);
}

std::string Copy::DefaultBranch(const std::string& head) const {
  const std::string sent = "refs/heads/" + side_.facts().branch;
  return MakeSource(side_, head.empty() ? sent : head, "").branch;
}

}  // namespace copy
