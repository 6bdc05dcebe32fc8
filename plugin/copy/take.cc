// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "copy/copy.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/printable.h"

namespace copy {

using git::Excluding;
using git::Existing;
using git::RequireSuccess;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::CommandError;

const std::string kBranches = "refs/heads/";
constexpr const char* kNoList = "git cannot list the branches";
constexpr const char* kReason = "limactl mcp take";

void AddPack(const Git& users, const SideRepository& side, const std::string& revisions) {
  const std::string pack = side.MakePack(side.git(), revisions);
  const support::FileDescriptor file(::open(pack.c_str(), O_RDONLY | O_CLOEXEC));
  support::Child index = users.Start({"index-pack", "--stdin", "--strict"}, {.input = file.get()});
  RequireSuccess(index, "git cannot add the work to your repository");
}

/// Branches that a rebase or a bisection works on, which count as checked out.
std::set<std::string> BranchesInWork(const Git& users) {
  const fs::path common =
      users.Require({"rev-parse", "--path-format=absolute", "--git-common-dir"}, kNoList);
  std::vector<fs::path> directories = {common};
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(common / "worktrees", none)) {
    directories.push_back(entry.path());
  }
  std::set<std::string> branches;
  for (const fs::path& directory : directories) {
    for (const char* file : {"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"}) {
      const std::vector<std::string> lines = Split(support::ReadText(directory / file), '\n');
      if (lines.empty()) continue;
      const bool is_full = lines[0].starts_with(kBranches);
      branches.insert(is_full ? lines[0].substr(kBranches.size()) : lines[0]);
    }
  }
  return branches;
}

}  // namespace

void RequireBranchName(const Git& users, const std::string& name) {
  const bool is_name =
      !name.starts_with('-') && users.Run({"check-ref-format", kBranches + name}).ok();
  if (!is_name) {
    throw CommandError("\"{}\" cannot be the name of a branch: --branch NAME.",
                       support::Printable(name));
  }
  const std::string branches =
      users.Require({"for-each-ref", "--format=%(refname:lstrip=2)", kBranches}, kNoList);
  for (const std::string& other : Split(branches, '\n')) {
    // A branch cannot be both a file and a directory.
    if (!name.starts_with(other + "/") && !other.starts_with(name + "/")) continue;
    throw CommandError("Branch {} is in the way of {}: git branch -m {} NAME", other, name, other);
  }
}

Branch ChooseBranch(const Git& users, const SideRepository& side, const std::string& name,
                    const std::string& id, Move move) {
  const auto taking = Split(side.facts().taking, ' ');
  const auto busy = BranchesInWork(users);
  Branch branch{name, ""};
  for (int number = 2;; ++number) {
    // The id, and "*" if the branch is checked out.
    const std::string found =
        users.Require({"for-each-ref", "--format=%(objectname)%(if)%(worktreepath)%(then)*%(end)",
                       kBranches + branch.name},
                      kNoList);
    branch.old = found.substr(0, id.size());
    if (branch.old.empty() || branch.old == id) return branch;
    const bool is_ours = std::find(taking.begin(), taking.end(), branch.old) != taking.end();
    const auto was_ours = [&] {
      return users.Run({"reflog", "-1", "--format=%gs", kBranches + branch.name}).Line() == kReason;
    };
    const auto is_ancestor = [&] {
      return side.git().Run({"merge-base", "--is-ancestor", branch.old, id}).ok();
    };
    const bool may_move = is_ours || ((move == Move::kForward || was_ours()) && is_ancestor());
    if (may_move && !found.ends_with('*') && !busy.contains(branch.name)) return branch;
    branch.name = name + "-" + std::to_string(number);
  }
}

void SetBranch(const Git& users, SideRepository& side, const Branch& branch,
               const std::string& id) {
  CopyFacts facts = side.facts();
  if (branch.old != id) {
    // First: if this is killed, the branch is still known to be ours.
    facts.taking += " " + id;
    side.Save(facts);
    const std::string head = users.Run({"rev-parse", "-q", "--verify", "HEAD^{commit}"}).Line();
    AddPack(users, side, id + "\n" + Excluding(Existing(users, {facts.base, facts.taken, head})));
    users.Require(
        {"-c", "core.logAllRefUpdates=true", "update-ref", "-m", kReason, kBranches + branch.name,
         id, branch.old.empty() ? std::string(id.size(), '0') : branch.old},
        support::Format("git cannot set the branch {}", branch.name));
  }
  if (id != facts.work) return;
  facts.taken = id;
  side.Save(facts);
}

bool WouldMergeRefuse(const Git& users, const SideRepository& side) {
  const std::string work = side.facts().work;
  const std::string base = users.Run({"merge-base", "HEAD", work}).Line();
  const std::string head = users.Run({"rev-parse", "HEAD"}).Line();
  if (base.empty()) return true;
  // Like merge, refresh the index first, to find the files that have changed.
  const fs::path index = side.MakeScratch() / "index";
  std::error_code none;
  fs::copy_file(users.Require({"rev-parse", "--path-format=absolute", "--git-path", "index"},
                              "git cannot find its index"),
                index, none);
  const Git git = users.With({{"GIT_INDEX_FILE", index.string()}});
  (void)git.Run({"update-index", "-q", "--refresh"});
  Git::Arguments merge = {"read-tree", "-n", "-m", "-u", "--exclude-per-directory=.gitignore"};
  if (base != head) merge.push_back(base);
  merge.insert(merge.end(), {head, work});
  return !git.Run(merge).ok();
}

}  // namespace copy
