#include <fcntl.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <set>

#include "copy/copy.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/wake_pipe.h"

namespace copy {
namespace {

using support::CallError;

constexpr std::string_view kBranches = "refs/heads/";

using Branches = std::map<std::string, std::string>;  // name → id

Branches ListBranches(const Git& users) {
  Branches branches;
  const std::string text = users.Require(
      {"for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", std::string(kBranches)},
      "git cannot list the branches");
  for (const std::string& line : Split(text, '\n')) {
    const std::size_t space = line.find(' ');
    branches[line.substr(0, space)] = line.substr(space + 1);
  }
  return branches;
}

/// A branch cannot be both a file and a directory.
std::string InTheWay(const Branches& branches, const std::string& name) {
  for (const auto& [branch, id] : branches) {
    if (name.starts_with(branch + "/") || branch.starts_with(name + "/")) return branch;
  }
  return "";
}

std::set<std::string> CheckedOut(const Git& users) {
  std::set<std::string> branches;
  const std::string prefix = "branch " + std::string(kBranches);
  const std::string text =
      users.Require({"worktree", "list", "--porcelain"}, "git cannot list the working trees");
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with(prefix)) branches.insert(line.substr(prefix.size()));
  }
  return branches;
}

/// From one git to the other, so that it ends even if this program is killed.
void AddPack(const Git& users, const SideRepository& side, const std::string& revisions) {
  const support::FileDescriptor input = TextFile(revisions);
  support::Pipe pipe;
  GitChild pack =
      side.git().Start({"pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"},
                       {.input = input.get(), .output = pipe.write_end.get()});
  GitChild index =
      users.Start({"index-pack", "--stdin", "--strict"}, {.input = pipe.read_end.get()});
  pipe.read_end.Close();
  pipe.write_end.Close();
  const bool is_indexed = index.Finish();
  const bool is_packed = pack.Finish();
  if (!is_packed && pack.status() != 128 + SIGPIPE) {
    throw CallError("git cannot pack the work: " + pack.Words());
  }
  if (!is_indexed || !is_packed) {
    throw CallError("git cannot add the work to your repository: " + index.Words());
  }
}

}  // namespace

void RequireBranchName(const Git& users, const std::string& name) {
  const bool is_name =
      !name.starts_with('-') && users.Run({"check-ref-format", std::string(kBranches) + name}).ok();
  if (!is_name) {
    throw CallError("\"" + support::Printable(name) +
                    "\" cannot be the name of a branch: --branch NAME.");
  }
  const std::string other = InTheWay(ListBranches(users), name);
  if (other.empty()) return;
  throw CallError("A branch \"" + other + "\" is in the way of \"" + name + "\": --branch NAME.");
}

Taken TakeBranch(const Git& users, SideRepository& side, const std::string& name) {
  CopyFacts facts = side.facts();
  const std::string& work = facts.work;
  const Branches branches = ListBranches(users);
  const std::set<std::string> checked_out = CheckedOut(users);
  std::string branch = name;
  std::string old(work.size(), '0');
  for (int number = 2;; ++number) {
    const auto found = branches.find(branch);
    if (found != branches.end() && found->second == work) {
      facts.taken = work;
      side.Save(facts);
      return {branch, true};
    }
    if (found == branches.end() && InTheWay(branches, branch).empty()) break;
    if (found != branches.end() && !checked_out.contains(branch)) {
      old = found->second;
      if (old == facts.taken || side.git().Run({"merge-base", "--is-ancestor", old, work}).ok())
        break;
      old.assign(work.size(), '0');
    }
    branch = name + "-" + std::to_string(number);
  }
  const std::string head = users.Run({"rev-parse", "-q", "--verify", "HEAD^{commit}"}).Line();
  std::string revisions = work + "\n";
  for (const std::string& id : Existing(users, {facts.base, facts.taken, head})) {
    revisions += "^" + id + "\n";
  }
  AddPack(users, side, revisions);
  users.Require({"-c", "core.logAllRefUpdates=true", "update-ref", "-m", "limactl mcp take",
                 std::string(kBranches) + branch, work, old},
                "git cannot set the branch " + branch);
  facts.taken = work;
  side.Save(facts);
  return {branch};
}

std::string AppliedSoFar(const SideRepository& side) {
  return side.facts().applied.empty() ? side.facts().sent : side.facts().applied;
}

std::string Summary(const SideRepository& side, const GuestState& state,
                    const std::string& instance) {
  const CopyFacts& facts = side.facts();
  if (facts.IsTaken(facts.work) && state.others == 0) return "";
  const std::string from = facts.taken.empty() ? AppliedSoFar(side) : facts.taken;
  std::string text = Count(ChangedNames(side, from, facts.work).size(), "file") + " changed";
  if (state.commits > 0) text += ", " + Count(state.commits, "commit");
  if (state.others > 0) text += ", " + Count(state.others, "commit") + " elsewhere";
  return text + ". See: limactl mcp diff" + instance + ". Take: limactl mcp take" + instance + "\n";
}

void ApplyWork(const Git& users, SideRepository& side) {
  // In a file: git apply must not see a part of it.
  const std::filesystem::path patch = side.path() / "tmp_patch";
  constexpr int kFlags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC;
  const support::FileDescriptor written(::open(patch.c_str(), kFlags, 0600));
  if (!written.valid()) throw CallError("cannot write " + patch.string());
  GitChild diff =
      side.git().Start({"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
                        "--binary", AppliedSoFar(side), side.facts().work},
                       {.output = written.get()});
  if (!diff.Finish()) throw CallError("git cannot make a patch: " + diff.Words());
  const GitOutput applied = users.Run({"apply", patch.string()});
  std::filesystem::remove(patch);
  if (!applied.ok()) {
    throw CallError("git apply: " + applied.words +
                    ". Nothing was changed. As a branch instead: limactl mcp take");
  }
  CopyFacts facts = side.facts();
  facts.applied = facts.work;
  side.Save(facts);
}

}  // namespace copy
