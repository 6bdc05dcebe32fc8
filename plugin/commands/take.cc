// SPDX-License-Identifier: Apache-2.0
#include <iostream>

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
  const exposure::Report report = command.PrintReport(from, to, "");
  if ((report.protected_files > 0 || report.is_cut) && !yes) RequireConsent(report);
  copy::ApplyWork(command.users(), command.side(), max_size);
  std::cout << support::Format("{} changed in the working tree.\n", support::Count(files, "file"));
  return 0;
}

/// Sets a branch. What it changes is printed before; if that fails, the branch still comes, and the
/// result is 1.
int TakeOne(CopyCommand& command, const std::string& name, const std::string& id, copy::Move move) {
  copy::SideRepository& side = command.side();
  const git::Git users = command.users();
  const copy::Branch branch = copy::ChooseBranch(users, side, name, id, move);
  const std::string from = copy::SentOrOlder(side);
  std::string problem;
  try {
    command.PrintReport(from, id, branch.name);
  } catch (const support::Error& error) {
    problem = error.what();
  }
  copy::SetBranch(users, side, branch, id);
  if (branch.old == id) {
    std::cout << support::Format("Branch {} has it already.\n", branch.name);
  } else {
    const std::string commits = side.git().Run({"rev-list", "--count", id, "^" + from}).Line();
    std::cout << support::Format("Branch {}: {}, {} changed.\n", branch.name,
                                 support::Count(std::stoull("0" + commits), "commit"),
                                 support::Count(copy::CountChanged(side, from, id), "file"));
  }
  if (from != side.facts().sent) {
    std::cerr << support::Format(
        "Note: git gc has deleted what the copy began with; this compares with {}.\n",
        from == side.facts().base ? "the commit below it" : "an empty directory");
  }
  if (problem.empty()) return 0;
  std::cerr << support::Format("The branch was set, but what it changes cannot be examined: {}\n",
                               problem);
  return 1;
}

/// Says what to know before the branch is merged or pushed.
void PrintNotes(const CopyCommand& command, const std::string& arguments) {
  const copy::CopyFacts& facts = command.side().facts();
  if (facts.sent == facts.base) return;
  std::cerr << "Note: it contains your own uncommitted and untracked files: do not push it as it "
               "is.\n";
  if (facts.applied == facts.work || !copy::WouldMergeRefuse(command.users(), command.side()))
    return;
  std::cerr << support::Format(
      "git merge will refuse, since your working tree has changes. Instead: limactl mcp take {} "
      "--apply\n",
      arguments);
}

int TakeBranches(CopyCommand& command, const std::string& name, copy::Move move,
                 copy::Untaken& untaken) {
  const copy::CopyFacts facts = command.side().facts();
  const git::Git users = command.users();
  const copy::SidePlace& place = command.side().place();
  int result = 0;
  if (facts.work != facts.sent) {
    result = TakeOne(command, name, facts.work, move);
    PrintNotes(command, place.arguments);
  } else if (untaken.refs.empty()) {
    std::cout << "Nothing to take.\n";
  }
  std::vector<copy::Untaken::Ref> left;
  for (const copy::Untaken::Ref& ref : untaken.refs) {
    if (copy::IsHeld(users, ref.id)) continue;
    const std::string other = place.instance + "/" + ref.name;
    try {
      copy::RequireBranchName(users, other);
      result |= TakeOne(command, other, ref.id, copy::Move::kForward);
    } catch (const support::Error& error) {
      std::cerr << support::Format("Note: not taken: {}\n", error.what());
      left.push_back(ref);
      result = 1;
    }
  }
  untaken.refs = left;
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
  const std::string branch = named ? parsed["branch"].as<std::string>() : command.DefaultBranch();
  if (!apply) copy::RequireBranchName(command.users(), branch);
  const copy::Target target = command.OpenTarget();
  copy::Untaken untaken =
      copy::Fetch(target, max_size, apply ? copy::Refs::kWorkOnly : copy::Refs::kAll).untaken;
  const copy::Move move = named ? copy::Move::kOurs : copy::Move::kForward;
  const int result =
      apply ? Apply(command, yes, max_size) : TakeBranches(command, branch, move, untaken);
  untaken.commits = untaken.files = 0;
  command.PrintUntaken(target, untaken);
  return untaken.empty() ? result : 1;
}

}  // namespace commands
