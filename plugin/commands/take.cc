// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <map>
#include <optional>

#include "commands/commands.h"
#include "commands/copy_command.h"
#include "commands/project.h"
#include "copy/copy.h"
#include "support/format.h"
#include "support/units.h"

namespace commands {
namespace {

/// Asks before protected files are applied, or what may have some.
void RequireConsent(const exposure::Report& report) {
  const std::string text = report.protected_files > 0
                               ? support::Format(
                                     "This change has {} that file tools may not write, "
                                     "or that your git settings or hooks name",
                                     support::Count(report.protected_files, "file"))
                               : "This change is too large to be examined";
  const auto is_wanted = AskUser(support::Format("{}. Apply? [y/N] ", text), false);
  if (!is_wanted) throw support::CommandError("{}. To apply it all the same: --yes", text);
  if (!*is_wanted) throw support::CommandError("Nothing was changed.");
}

int Apply(CopyCommand& command, bool yes, std::uint64_t max_size) {
  const copy::SideRepository& side = command.side();
  const std::string from = side.facts().applied;
  const std::string to = side.facts().work;
  const std::size_t files = to == from ? 0 : copy::CountChanged(side, from, to);
  if (files == 0) {
    std::cout << (to == from ? "Nothing to take.\n"
                             : support::Format(
                                   "No file differs. To bring the commits: limactl mcp take {}\n",
                                   side.place().arguments));
    return 0;
  }
  const exposure::Report report = command.MakeReport(from, to, "");
  report.Print(std::cerr);
  if ((report.protected_files > 0 || report.is_cut) && !yes) RequireConsent(report);
  copy::ApplyWork(command.users(), command.side(), max_size);
  std::cout << support::Format("{} changed in the working tree.\n", support::Count(files, "file"));
  return 0;
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
  if (apply && named) throw UsageError("--apply and --branch exclude each other");
  if (yes && !apply) throw UsageError("--yes is for --apply; without it, nothing is asked");
  const std::uint64_t max_size = ReadMaxSize(parsed);
  CopyCommand command(parsed.Positional(0, kAgentInstance), parsed["project"].as<std::string>(), "",
                      "take");
  command.RequireCopy();
  if (apply) {
    const copy::Target target = command.OpenTarget();
    copy::Untaken untaken = copy::Fetch(target, max_size, copy::Refs::kWorkOnly).untaken;
    const int result = Apply(command, yes, max_size);
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
