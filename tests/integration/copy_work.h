// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

/// Random work on both sides of a copy.
namespace integration {

/// For one test by default. LIMACTL_MCP_CYCLES sets the number of steps, LIMACTL_MCP_SEED the seed.
inline constexpr std::chrono::seconds kTime{15};
inline constexpr int kSteps = 32;

class Steps {
 public:
  [[nodiscard]] bool AreOver(int step) const {
    return step >= number_ || std::chrono::steady_clock::now() >= end_;
  }

 private:
  const char* given_ = std::getenv("LIMACTL_MCP_CYCLES");
  const int number_ = given_ == nullptr ? kSteps : std::atoi(given_);
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + (given_ == nullptr ? kTime : std::chrono::hours(1));
};

/// With $n, a new number, and $side. A side may do any of them at any time.
inline const std::vector<std::string> kMoves = {
    "echo $n >> file.txt",
    "echo $n >> file.txt",
    "echo $n > $side-$n",
    "echo $n > $side-$n; chmod +x $side-$n; ln -sf $side-$n link",
    "rm -f $side-*",
    "git rm -qf --ignore-unmatch dir/inner.txt",
    "echo $n > staged; git add staged; echo more >> staged",
    "git add -A; git commit -q --allow-empty -m $side-$n",
    "git commit -q --allow-empty -am $side-$n",
    "git commit -q --amend --allow-empty -am $side-amended-$n",
    "! git rev-parse -q --verify HEAD~ >/dev/null || git reset -q --soft HEAD~",
    "! git rev-parse -q --verify HEAD~ >/dev/null || git reset -q --hard HEAD~",
    "git reset -q --hard",
    "git stash -q -u",
    "git switch -q -c $side-$n",
    "git switch -q -f main || git switch -q -c main",
    "git reflog expire --expire=now HEAD; git -c gc.auto=0 gc -q --prune=now",
};

/// What an agent does, with $n, a new number. The copy is the current directory.
inline const std::vector<std::string> kWork = {
    "echo $n > new-$n",
    "echo $n >> file.txt; git commit -qam $n",
    "echo $n >> file.txt; git commit -q --amend -am $n",
    "echo $n >> dir/inner.txt",
    "echo $n > s-$n; git stash -qu",
    "git switch -qc feat/$n; echo $n > b-$n; git add b-$n; git commit -qm $n",
    "git switch -q --detach; git commit -q --allow-empty -m $n",
    "git switch -qf main",
    "git tag t$n; git commit -q --allow-empty -m $n; git tag u$n; git reset -q --soft HEAD~",
    "git rebase -q --root --onto HEAD 2>/dev/null || git rebase --abort 2>/dev/null || true",
    "git init -q nested-$n; echo $n > nested-$n/file",
    "d=$(printf 'nested-%s\\nx' $n); git init -q \"$d\"; echo $n > \"$d/file\"",
    "mkdir deep-$n; git init -q deep-$n/nested; cd deep-$n/nested; echo $n > f; git add f; git "
    "commit -qm $n",
    "git worktree add -q ../tree-$n -b tree-$n; cd ../tree-$n; git commit -q --allow-empty -m $n",
    "git worktree add -q --detach tree-$n; echo $n > tree-$n/new",
    "git update-index --assume-unchanged file.txt; echo hidden $n >> file.txt",
    "git update-index --skip-worktree dir/inner.txt; echo hidden $n >> dir/inner.txt",
    "echo /ignored-$n >> .gitignore; echo $n > ignored-$n",
    "echo $n > ignored-$n; git add -f ignored-$n",
    "sed -i 1d .gitignore 2>/dev/null || true",
    "git gc -q --prune=now",
};

}  // namespace integration
