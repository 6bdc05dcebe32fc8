#include <fcntl.h>

#include <string>

#include "copy/copy.h"
#include "support/errors.h"
#include "support/printable.h"

namespace copy {
namespace {

using support::CallError;

const std::string kBranches = "refs/heads/";
constexpr const char* kNoList = "git cannot list the branches";

void AddPack(const Git& users, const SideRepository& side, const std::string& revisions) {
  const std::string pack = side.MakePack(side.git(), revisions);
  const support::FileDescriptor file(::open(pack.c_str(), O_RDONLY | O_CLOEXEC));
  support::Child index = users.Start({"index-pack", "--stdin", "--strict"}, {.input = file.get()});
  RequireSuccess(index, "git cannot add the work to your repository");
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

}  // namespace copy
