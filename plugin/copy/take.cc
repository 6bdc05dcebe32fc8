#include <csignal>
#include <filesystem>
#include <string>

#include "copy/copy.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/wake_pipe.h"

namespace copy {
namespace {

using support::CallError;

const std::string kBranches = "refs/heads/";
constexpr const char* kNoList = "git cannot list the branches";

/// From one git to the other, so that it ends even if this program is killed.
void AddPack(const Git& users, const SideRepository& side, const std::string& revisions) {
  support::Pipe pipe;
  support::Child pack =
      side.git().Start({"pack-objects", "--revs", "--stdout", "--delta-base-offset", "-q"},
                       {.input = support::Child::kPipe, .output = pipe.write_end.get()});
  support::Child index =
      users.Start({"index-pack", "--stdin", "--strict"}, {.input = pipe.read_end.get()});
  pipe.read_end.Close();
  pipe.write_end.Close();
  (void)pack.Write(revisions);
  pack.CloseInput();
  // In this order: index-pack may print more than a pipe holds.
  const bool is_indexed = index.Finish() == 0;
  const int packed = pack.Finish();
  if (packed != 0 && packed != 128 + SIGPIPE) {
    throw CallError("git cannot pack the work: " + Words(pack));
  }
  if (!is_indexed || packed != 0) {
    throw CallError("git cannot add the work to your repository: " + Words(index));
  }
}

}  // namespace

void RequireBranchName(const Git& users, const std::string& name) {
  const bool is_name =
      !name.starts_with('-') && users.Run({"check-ref-format", kBranches + name}).ok();
  if (!is_name) {
    throw CallError("\"" + support::Printable(name) +
                    "\" cannot be the name of a branch: --branch NAME.");
  }
  const std::string branches =
      users.Require({"for-each-ref", "--format=%(refname:lstrip=2)", kBranches}, kNoList);
  for (const std::string& other : Split(branches, '\n')) {
    // A branch cannot be both a file and a directory.
    if (!name.starts_with(other + "/") && !other.starts_with(name + "/")) continue;
    throw CallError("A branch \"" + other + "\" is in the way of \"" + name + "\": --branch NAME.");
  }
}

Taken TakeBranch(const Git& users, SideRepository& side, const std::string& name) {
  CopyFacts facts = side.facts();
  const std::string work = facts.work;
  std::string branch = name;
  std::string old;
  for (int number = 2;; ++number) {
    // The id, and "*" if the branch is checked out.
    const std::string found =
        users.Require({"for-each-ref", "--format=%(objectname)%(if)%(worktreepath)%(then)*%(end)",
                       kBranches + branch},
                      kNoList);
    old = found.substr(0, work.size());
    if (old.empty() || old == work) break;
    const bool is_ours = old == facts.taken || old == facts.taking;
    const bool may_move =
        is_ours || side.git().Run({"merge-base", "--is-ancestor", old, work}).ok();
    if (may_move && !found.ends_with('*')) break;
    branch = name + "-" + std::to_string(number);
  }
  if (old != work) {
    // First: if this is killed, the branch is still known to be ours.
    facts.taking = work;
    side.Save(facts);
    const std::string head = users.Run({"rev-parse", "-q", "--verify", "HEAD^{commit}"}).Line();
    AddPack(users, side, work + "\n" + Excluding(Existing(users, {facts.base, facts.taken, head})));
    users.Require({"-c", "core.logAllRefUpdates=true", "update-ref", "-m", "limactl mcp take",
                   kBranches + branch, work, old.empty() ? std::string(work.size(), '0') : old},
                  "git cannot set the branch " + branch);
  }
  facts.taken = work;
  side.Save(facts);
  return {branch, old == work};
}

std::string Summary(const SideRepository& side, const GuestState& state,
                    const std::string& instance) {
  const CopyFacts& facts = side.facts();
  if (facts.IsTaken(facts.work) && state.others == 0) return "";
  const std::string from = facts.taken.empty() ? facts.applied : facts.taken;
  std::string text = support::Count(CountChanged(side, from, facts.work), "file") + " changed";
  if (state.commits > 0) text += ", " + support::Count(state.commits, "commit");
  if (state.others > 0) text += ", " + support::Count(state.others, "commit") + " elsewhere";
  return text + ". See: limactl mcp diff" + instance + ". Take: limactl mcp take" + instance + "\n";
}

void ApplyWork(const Git& users, SideRepository& side, std::uint64_t max_size) {
  // In a file: git apply must not see a part of it.
  const std::filesystem::path patch = side.MakeScratch() / "patch";
  WritePatch(side, side.facts().applied, patch, max_size);
  const GitOutput applied = users.Run({"apply", patch.string()});
  if (!applied.ok()) {
    throw CallError("git apply: " + applied.words +
                    ". Nothing was changed. As a branch instead: limactl mcp take");
  }
  CopyFacts facts = side.facts();
  facts.applied = facts.work;
  side.Save(facts);
}

}  // namespace copy
