// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <map>
#include <optional>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/project.h"
#include "copy/apply.h"
#include "copy/copy.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/units.h"

namespace commands {
namespace {

void PrintPaths(const std::string& title, std::vector<std::string> paths) {
  for (std::string& path : paths) path = paths::Visible(path);
  exposure::Report report;
  report.AddSection(title, paths);
  report.Print(std::cerr);
}

/// What to ask before a change is applied; empty if nothing.
std::string Doubts(const exposure::Report& report, const copy::Losses& losses) {
  std::vector<std::string> doubts;
  const auto add = [&](const char* verb, std::size_t count, const char* what) {
    if (count == 0) return;
    doubts.push_back(support::Format("{} {} {}", verb, support::Count(count, "file"), what));
  };
  add("deletes or takes back", losses.work.size(), "of your uncommitted work");
  add("rewrites", losses.bytes.size(), "of which your filters or line ends keep less");
  add("has", report.protected_files,
      "that file tools may not write, or that your git settings or hooks name");
  if (!doubts.empty()) return "This change " + support::Join(doubts, ", and ");
  return report.is_cut ? "This change is too large to be examined" : "";
}

/// Asks, if need be. Returns whether it did.
bool AskForConsent(const exposure::Report& report, const copy::Losses& losses, bool yes) {
  PrintPaths("Uncommitted work of yours that this deletes or takes back:", losses.work);
  PrintPaths("Files of which your filters or rules for line ends keep less than they have:",
             losses.bytes);
  const std::string text = Doubts(report, losses);
  if (text.empty() || yes) return false;
  const auto is_wanted = AskUser(support::Format("{}. Apply? [y/N] ", text), false);
  if (!is_wanted) throw support::Error("{}. To apply it all the same: --yes", text);
  if (!*is_wanted) throw support::Error("Nothing was changed.");
  return true;
}

/// Submodules that were deleted: git apply leaves their directories.
void PrintLeftModules(const exposure::CommitChanges& changes) {
  std::vector<std::string> modules;
  for (const exposure::Change& change : changes.list) {
    if (change.old_mode == git::kRepositoryMode && change.is_deleted())
      modules.push_back(change.path);
  }
  PrintPaths("Submodules that were deleted, but stay here:", modules);
}

int Apply(CopyCommand& command, copy::GuestState& state, bool yes, std::uint64_t max_size) {
  copy::SideRepository& side = command.side();
  const copy::CopyFacts& facts = side.facts();
  if (facts.work == facts.applied) {
    std::cout << "Nothing to take.\n";
    return 0;
  }
  const copy::Patch patch = copy::ReadPatch(side, std::move(state.tree), max_size);
  if (patch.changes.list.empty()) {
    std::cout << support::Format("No file differs. To bring the commits: limactl mcp take {}\n",
                                 side.place().arguments);
    return 0;
  }
  const exposure::Report report = command.MakeReport(patch.changes, "");
  report.Print(std::cerr);
  PrintLeftModules(patch.changes);
  const std::size_t files = copy::ApplyWork(command.users(), side, patch, [&](const auto& losses) {
    return AskForConsent(report, losses, yes);
  });
  std::cout << support::Format(
      "{} changed in the working tree. To undo this: limactl mcp take --undo {}\n",
      support::Count(files, "file"), side.place().arguments);
  return 0;
}

int Undo(CopyCommand& command, bool force) {
  if (command.has_undone()) return 0;  // and has said so
  const copy::Undone undone = copy::UndoApply(command.side(), force);
  const std::string& arguments = command.side().place().arguments;
  if (undone.files > 0 || undone.left.empty()) {
    std::cout << support::Format("{} put back. To reverse this: limactl mcp take --undo {}\n",
                                 support::Count(undone.files, "file"), arguments);
  }
  if (undone.left.empty()) return 0;
  PrintPaths("Not put back, since you have changed them:", undone.left);
  std::cerr << support::Format(
      "To put them back all the same: limactl mcp take --undo {} --force\n", arguments);
  return 1;
}

/// Prints what the branches change, for the host. If that fails, they still come, and the result
/// is 1.
int PrintReport(const CopyCommand& command, const std::string& from,
                const std::vector<copy::Branch>& branches) try {
  std::string to = from;
  std::map<std::string, std::string> others;
  for (const auto& [name, old, source] : branches) {
    if (source.id == command.side().facts().work) {
      to = source.id;
    } else {
      others[source.id] = name;
    }
  }
  command.MakeReport(from, to, branches.front().name, others).Print(std::cerr);
  return 0;
} catch (const support::Error& error) {
  std::cerr << support::Format("What the branches change cannot be examined: {}\n", error.what());
  return 1;
}

/// Says what to know before the branches are merged or pushed.
void PrintNotes(const CopyCommand& command, const std::string& from, bool has_work) {
  const copy::CopyFacts& facts = command.side().facts();
  if (from != facts.sent) {
    std::cerr << support::Format(
        "Note: git gc has deleted what the copy began with; this compares with {}.\n",
        from == facts.base ? "the commit below it" : "an empty directory");
  }
  if (!has_work || facts.sent == facts.base) return;
  std::cerr << "Note: it contains your own uncommitted and untracked files: do not push it as it "
               "is.\n";
  if (facts.applied == facts.work) return;
  std::cerr << support::Format(
      "If git merge refuses, because of changes of your own: limactl mcp take {} --apply\n",
      command.side().place().arguments);
}

/// The work, unless it is none, and what else the host has not.
std::vector<copy::Source> SourcesOf(const CopyCommand& command, const copy::GuestState& state) {
  const copy::SideRepository& side = command.side();
  const copy::CopyFacts& facts = side.facts();
  std::vector<copy::Source> sources;
  // A detached HEAD at an older commit, as in a bisection, is no work.
  const bool is_look = state.head == "detached" &&
                       side.git().Run({"merge-base", "--is-ancestor", state.work, facts.base}).ok();
  if (state.work != facts.sent && !is_look) {
    sources.push_back(copy::MakeSource(side, state.head, state.work));
  }
  for (const copy::Untaken::Ref& ref : state.untaken.refs) {
    sources.push_back(copy::MakeSource(side, ref.source, ref.id));
  }
  return sources;
}

/// Sets a branch for each source. `name`: that the user wants for the work. What is not taken stays
/// in `untaken`.
int TakeBranches(CopyCommand& command, copy::Branches& all, const std::optional<std::string>& name,
                 copy::GuestState& state) {
  copy::SideRepository& side = command.side();
  copy::Untaken left{.rest = state.untaken.rest, .notes = state.untaken.notes};
  std::vector<copy::Branch> branches;
  bool has_work = false;
  for (copy::Source& source : SourcesOf(command, state)) {
    const bool is_work = source.id == state.work;
    if (is_work && name) source.branch = *name;
    try {
      branches.push_back(all.Choose(source, is_work && name));
      has_work = has_work || is_work;
    } catch (const support::Error& error) {
      std::cerr << support::Format("Note: not taken: {}\n", error.what());
      left.refs.push_back({copy::RefName(source.ref), source.id, source.ref});
    }
  }
  state.untaken = std::move(left);
  if (branches.empty()) {
    if (state.untaken.refs.empty()) std::cout << "Nothing to take.\n";
    return 0;
  }
  const std::string from = copy::SentOrOlder(side);
  const int result = PrintReport(command, from, branches);
  all.Set(side, branches);
  for (const std::string& text : copy::Describe(side, from, branches)) std::cout << text << '\n';
  PrintNotes(command, from, has_work);
  return result;
}

}  // namespace

int Take(const Parsed& parsed) {
  const bool apply = parsed["apply"].as<bool>();
  const bool yes = parsed["yes"].as<bool>();
  const bool named = parsed.count("branch") > 0;
  if (apply && named) throw support::Error("--apply and --branch exclude each other");
  if (yes && !apply) throw support::Error("--yes is for --apply; without it, nothing is asked");
  const bool undo = parsed["undo"].as<bool>();
  const bool force = parsed["force"].as<bool>();
  if (undo && (apply || named)) throw support::Error("--undo excludes --apply and --branch");
  if (force && !undo) throw support::Error("--force is for --undo");
  const std::uint64_t max_size = ReadMaxSize(parsed);
  CopyCommand command(parsed.Positional(0, kAgentInstance), parsed["project"].as<std::string>(), "",
                      undo ? "take --undo" : "take");
  if (undo) {
    command.FollowProject();
    return Undo(command, force);
  }
  command.RequireCopy();
  if (apply) {
    const copy::Target target = command.OpenTarget();
    copy::GuestState state = copy::Fetch(target, max_size, copy::Refs::kUncounted);
    const int result = Apply(command, state, yes, max_size);
    copy::Untaken& untaken = state.untaken;
    untaken.commits = untaken.files = 0;
    untaken.gone.clear();
    command.PrintUntaken(target, untaken);
    return untaken.empty() ? result : 1;
  }
  const git::Git users = command.users();
  std::optional<std::string> name;
  if (named) name = parsed["branch"].as<std::string>();
  if (name) copy::RequireBranchName(users, *name);
  copy::Branches branches(users, command.side());
  branches.RequireWay(name ? *name : command.DefaultBranch());
  const copy::Target target = command.OpenTarget();
  copy::GuestState state = copy::Fetch(target, max_size, copy::Refs::kAll);
  const int result = TakeBranches(command, branches, name, state);
  command.PrintUntaken(target, state.untaken);
  return state.untaken.empty() ? result : 1;
}

}  // namespace commands
