// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "copy/copy.h"
#include "paths/names.h"
#include "support/format.h"
#include "support/join.h"
#include "support/units.h"

namespace copy {

using git::Excluding;
using git::Existing;
using git::Split;
using paths::List;
using paths::Visible;
using paths::Word;
namespace {

using support::Count;
using support::Format;
using Ids = std::vector<std::string>;

constexpr const char* kNoCount = "git cannot count what is new";
/// Commits of a branch that are counted, and files of a stash that are named.
constexpr std::size_t kMaxCommits = 1000;
constexpr std::size_t kMaxAdded = 10;

/// The texts for the branches of one `take`: few gits, however many branches.
class Describer {
 public:
  Describer(const SideRepository& side, const std::string& from,
            const std::vector<Branch>& branches)
      : side_(side),
        from_(from),
        sent_(Existing(side.git(), {side.facts().sent, side.facts().base})) {
    std::string revisions = Excluding(sent_);
    for (const Branch& branch : branches) revisions += branch.source.id + "\n";
    const std::string list =
        side.git().Require({"rev-list", "--parents", "--stdin"}, kNoCount, revisions);
    for (const std::string& line : Split(list, '\n')) {
      const Ids ids = Split(line, ' ');
      parents_[ids.front()] = {ids.begin() + 1, ids.end()};
    }
    ReadPaths(branches);
  }

  std::string Text(const Branch& branch) {
    const std::string& id = branch.source.id;
    const std::string name = Visible(branch.name);
    if (branch.old == id) return Format("Branch {} has it already.", name);
    if (IsStash(branch)) return Format("Branch {}: {}", name, StashText(branch));
    const auto [commits, fork] = CountCommits(id);
    std::vector<std::string> parts;
    if (commits > kMaxCommits) parts.push_back(Format("more than {} commits", kMaxCommits));
    if (commits > 0 && parts.empty()) parts.push_back(Count(commits, "commit"));
    // The work is compared as `diff` does.
    const bool is_work = id == side_.facts().work;
    const std::size_t files = is_work ? CountChanged(side_, from_, id) : paths_[id].size();
    if (!is_work && fork.empty()) {
      parts.emplace_back("unrelated to what was sent");
    } else if (commits > 0) {
      parts.push_back(Format("{} changed", Count(files, "file")));
    }
    const std::size_t behind = CountBehind(id, fork);
    if (behind > 0) parts.push_back(Format("{} behind what was sent", Count(behind, "commit")));
    return Format("Branch {}: {}.", name, support::Join(parts));
  }

 private:
  [[nodiscard]] bool IsStash(const Branch& branch) const {
    const auto found = parents_.find(branch.source.id);
    return branch.source.is_stash() && found != parents_.end() && found->second.size() > 1;
  }

  /// How many commits were not sent, and the next one below these.
  [[nodiscard]] std::pair<std::size_t, std::string> CountCommits(const std::string& tip) const {
    std::size_t commits = 0;
    std::string fork;
    std::set<std::string> seen = {tip};
    std::deque<std::string> next = {tip};
    for (; !next.empty() && commits <= kMaxCommits; next.pop_front()) {
      const auto found = parents_.find(next.front());
      if (found == parents_.end()) {
        if (fork.empty()) fork = next.front();
        continue;
      }
      ++commits;
      for (const std::string& parent : found->second) {
        if (seen.insert(parent).second) next.push_back(parent);
      }
    }
    return {commits, fork};
  }

  [[nodiscard]] std::size_t CountBehind(const std::string& id, const std::string& fork) const {
    const bool is_ahead = std::find(sent_.begin(), sent_.end(), fork) != sent_.end();
    if (is_ahead || sent_.empty() || fork.empty()) return 0;
    return std::stoull(
        side_.git().Require({"rev-list", "--count", sent_.back(), "--not", id}, kNoCount));
  }

  /// Reads what each branch changes since it left what was sent, and what stashes add.
  void ReadPaths(const std::vector<Branch>& branches) {
    std::string lines;  // a commit, and what it is compared with
    for (const Branch& branch : branches) {
      const std::string& id = branch.source.id;
      const Ids parents = IsStash(branch) ? parents_[id] : Ids{CountCommits(id).second};
      if (!parents[0].empty()) lines += id + " " + parents[0] + "\n";
      if (parents.size() > 2) lines += parents[2] + "\n";
    }
    const Ids parts = Split(
        side_.git().Require({"diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames"},
                            kNoCount, lines),
        '\0');
    std::string commit;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (!parts[i].starts_with(':')) {
        commit = parts[i];
      } else if (++i < parts.size()) {
        paths_[commit].push_back(Visible(parts[i]));
      }
    }
  }

  std::string StashText(const Branch& branch) {
    const Ids& parents = parents_[branch.source.id];
    const Ids added = parents.size() > 2 ? paths_[parents[2]] : Ids();
    return Format("a stash, {} changed{}. To apply it: git stash apply {}",
                  Count(paths_[branch.source.id].size(), "file"),
                  added.empty() ? "" : ", new: " + List(added, kMaxAdded), Word(branch.name));
  }

  const SideRepository& side_;
  const std::string from_;
  const Ids sent_;                                ///< what of it git has
  std::unordered_map<std::string, Ids> parents_;  ///< of the commits that were not sent
  std::unordered_map<std::string, Ids> paths_;    ///< by commit
};

}  // namespace

std::vector<std::string> Describe(const SideRepository& side, const std::string& from,
                                  const std::vector<Branch>& branches) {
  Describer describer(side, from, branches);
  std::vector<std::string> texts;
  for (const Branch& branch : branches) texts.push_back(describer.Text(branch));
  return texts;
}

}  // namespace copy
