// SPDX-License-Identifier: Apache-2.0
#include "copy/take.h"

#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "copy/branches.h"
#include "copy/diff.h"
#include "copy/lend.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/words.h"

namespace copy {
namespace {

using support::Error;
using support::Format;

/// Prints what the branches change, for the host. If that fails, they still come, and the result
/// is 1.
int PrintReport(const Copy& copy, const std::string& from, const std::vector<Branch>& branches,
                bool& has_lent) try {
  std::string to = from;
  std::map<std::string, std::string> others;
  for (const auto& [name, old, source] : branches) {
    if (source.id == copy.side().facts().work) {
      to = source.id;
    } else {
      others[source.id] = name;
    }
  }
  const exposure::Report report = copy.MakeReport(from, to, branches.front().name, others);
  report.Print(std::cerr);
  has_lent = report.has_lent;
  return 0;
} catch (const Error& error) {
  std::cerr << Format("What the branches change cannot be examined: {}\n", error.what());
  return 1;
}

/// Says what to know before the branches are merged or pushed.
void PrintNotes(const SideRepository& side, const std::string& from, bool has_work) {
  const CopyFacts& facts = side.facts();
  if (from != facts.sent) {
    std::cerr << "Note: git gc has deleted what the copy began with; this compares with an empty "
                 "directory.\n";
  }
  if (!has_work || facts.sent == facts.base) return;
  std::cerr << "Note: it contains your own uncommitted and untracked files: do not push it as it "
               "is.\n";
  if (facts.applied == facts.work) return;
  std::cerr << Format(
      "If git merge refuses, because of changes of your own: limactl mcp take {} --apply\n",
      side.place().arguments);
}

/// The work, unless it is none, and what else the host has not.
std::vector<Source> SourcesOf(const SideRepository& side, const GuestState& state) {
  const CopyFacts& facts = side.facts();
  std::vector<Source> sources;
  // A detached HEAD at an older commit, as in a bisection, is no work.
  const bool is_look = state.head == "detached" &&
                       side.git().Run({"merge-base", "--is-ancestor", state.work, facts.base}).ok();
  if (state.work != facts.sent && !is_look) {
    sources.push_back(MakeSource(side, state.head, state.work));
  }
  for (const Untaken::Ref& ref : state.untaken.refs) {
    sources.push_back(MakeSource(side, ref.source, ref.id));
  }
  return sources;
}

void RequireConsent(const Ask& ask) {
  const auto is_wanted = ask("The branches have what you lend, or may have it. Take them? [y/N] ");
  if (!is_wanted) {
    throw Error(
        "The branches have what you lend, or may have it. To take them all the same: --yes");
  }
  if (!*is_wanted) throw Error("Nothing was changed.");
}

/// Sets a branch for each source. `name`: that the user wants for the work. What is not taken stays
/// in `untaken`.
int SetBranches(Copy& copy, Branches& all, const std::optional<std::string>& name,
                GuestState& state, const Ask& ask) {
  SideRepository& side = copy.side();
  Untaken left{.rest = state.untaken.rest, .notes = state.untaken.notes};
  std::vector<Branch> branches;
  bool has_work = false;
  for (Source& source : SourcesOf(side, state)) {
    const bool is_work = source.id == state.work;
    if (is_work && name) source.branch = *name;
    branches.push_back(all.Choose(source, is_work && name));
    has_work = has_work || is_work;
  }
  state.untaken = std::move(left);
  if (branches.empty()) {
    std::cout << "Nothing to take.\n";
    return 0;
  }
  const std::string from = SentOrNothing(side);
  bool has_lent = !LentNames(side.facts()).empty();  // unless the report says otherwise
  const int result = PrintReport(copy, from, branches, has_lent);
  if (has_lent && ask) RequireConsent(ask);
  all.Set(side, branches);
  for (const std::string& text : Describe(side, from, branches)) std::cout << text << '\n';
  PrintNotes(side, from, has_work);
  return result;
}

}  // namespace

void AddOverwritten(const Git& users, const std::vector<exposure::Change>& changes,
                    exposure::Report& report) {
  std::set<std::string, std::less<>> added;
  for (const exposure::Change& change : changes) {
    if (change.old_mode == git::kNoEntry) added.insert(support::LowerCase(change.path));
  }
  if (added.empty()) return;
  std::vector<std::string> overwritten;
  const git::GitOutput ignored = users.Run({"ls-files", "-o", "-i", "--exclude-standard", "-z"});
  if (!ignored.ok() || ignored.is_cut) report.Cut();
  for (const std::string& path : git::Split(ignored.output, '\0')) {
    const std::string file = support::LowerCase(path);
    const auto below = added.lower_bound(file + "/");
    bool is_in_the_way = below != added.end() && below->starts_with(file + "/");
    for (std::size_t end = file.size(); !is_in_the_way && end != std::string::npos && end > 0;
         end = file.rfind('/', end - 1)) {
      is_in_the_way = added.contains(std::string_view(file).substr(0, end));
    }
    if (is_in_the_way) overwritten.push_back(paths::Visible(path));
  }
  report.AddSection("Ignored files of yours that git switch or merge would overwrite:",
                    overwritten);
}

int TakeBranches(Copy& copy, const std::optional<std::string>& name, std::uint64_t max_size,
                 const Ask& ask) {
  const Git users = copy.users();
  if (name) RequireBranchName(users, *name);
  Branches branches(users, copy.side());
  GuestState state = Fetch(copy, max_size, Refs::kAll);
  const int result = SetBranches(copy, branches, name, state, ask);
  NotesOn(copy.side(), state.untaken).Print(std::cerr);
  return state.untaken.empty() ? result : 1;
}

}  // namespace copy
