// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "copy/apply.h"
#include "copy/take.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/units.h"

namespace copy {
namespace {

using support::Count;
using support::Error;
using support::Format;

void PrintPaths(const std::string& title, std::vector<std::string> paths) {
  for (std::string& path : paths) path = paths::Visible(path);
  exposure::Notes notes;
  notes.AddSection(title, paths);
  notes.Print(std::cerr);
}

/// What to ask before a change is applied; empty if nothing.
std::string Doubts(const exposure::Report& report, const Losses& losses) {
  std::vector<std::string> doubts;
  const auto add = [&](const char* verb, std::size_t count, const char* what) {
    if (count > 0) doubts.push_back(Format("{} {} {}", verb, Count(count, "file"), what));
  };
  add("deletes or takes back", losses.work.size(), "of your uncommitted work");
  add("rewrites", losses.converted.size(), "of which your filters or line ends may keep less");
  add("has", report.protected_files,
      "that file tools may not write, or that your git settings or hooks name");
  if (!doubts.empty()) return "This change " + support::Join(doubts, ", and ");
  return report.is_cut ? "This change is too large to be examined" : "";
}

/// Asks, if need be. Returns whether it did.
bool RequireConsent(const exposure::Report& report, const Losses& losses, const Ask& ask) {
  PrintPaths("Uncommitted work of yours that this deletes or takes back:", losses.work);
  PrintPaths("Files that a filter or rule for line ends of yours converts:", losses.converted);
  const std::string text = Doubts(report, losses);
  if (text.empty() || !ask) return false;
  const auto is_wanted = ask(Format("{}. Apply? [y/N] ", text));
  if (!is_wanted) throw Error("{}. To apply it all the same: --yes", text);
  if (!*is_wanted) throw Error("Nothing was changed.");
  return true;
}

void Apply(Copy& copy, GuestState& state, std::uint64_t max_size, const Ask& ask) {
  SideRepository& side = copy.side();
  const std::string& arguments = side.place().arguments;
  if (side.facts().work == side.facts().applied) {
    std::cout << "Nothing to take.\n";
    return;
  }
  const Patch patch = ReadPatch(side, std::move(state.tree), max_size);
  if (patch.changes.list.empty()) {
    std::cout << Format("No file differs. To bring the commits: limactl mcp take {}\n", arguments);
    return;
  }
  const exposure::Report report = copy.MakeReport(patch.changes, "");
  report.Print(std::cerr);
  if (report.has_lent) {
    throw Error(
        "The work has what you lend, or may have it: nothing was changed. As a branch: "
        "limactl mcp take {}",
        arguments);
  }
  std::vector<std::string> modules;  // git apply leaves their directories
  for (const exposure::Change& change : patch.changes.list) {
    if (change.old_mode == git::kRepositoryMode && change.is_deleted())
      modules.push_back(change.path);
  }
  PrintPaths("Submodules that were deleted, but stay here:", modules);
  const std::size_t files = ApplyWork(copy.users(), side, patch, [&](const Losses& losses) {
    return RequireConsent(report, losses, ask);
  });
  std::cout << Format("{} changed in the working tree. To undo this: limactl mcp take --undo {}\n",
                      Count(files, "file"), arguments);
}

}  // namespace

int TakeFiles(Copy& copy, std::uint64_t max_size, const Ask& ask) {
  GuestState state = Fetch(copy, max_size, Refs::kUncounted);
  Apply(copy, state, max_size, ask);
  Untaken& untaken = state.untaken;
  untaken.commits = untaken.files = 0;
  NotesOn(copy.side(), untaken).Print(std::cerr);
  return untaken.empty() ? 0 : 1;
}

void UndoTake(Copy& copy, bool force) {
  if (copy.has_undone()) return;  // and has said so
  const std::size_t files = UndoApply(copy.side(), force);
  std::cout << Format("{} put back. To reverse this: limactl mcp take --undo {}\n",
                      Count(files, "file"), copy.side().place().arguments);
}

}  // namespace copy
