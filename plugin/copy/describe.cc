// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "copy/copy.h"
#include "exposure/names.h"
#include "support/format.h"
#include "support/units.h"

namespace copy {

using exposure::List;
using exposure::Visible;
using exposure::Word;
using git::Excluding;
using git::Existing;
using git::Split;
namespace {

using support::Count;
using support::Format;
using Ids = std::vector<std::string>;

constexpr const char* kNoCount = "git cannot count what is new";
/// Commits of a branch that are counted.
constexpr std::size_t kMaxCommits = 10'000;
constexpr std::size_t kMaxAdded = 10;

/// What a commit has that was not sent.
struct Extent {
  std::size_t commits = 0;
  std::string fork;      ///< the next commit below these; empty if there is none
  bool has_sent = true;  ///< all that was sent
};

/// The commits that were not sent, with their parents.
class NewCommits {
 public:
  NewCommits(const Git& git, const Ids& sent, const std::vector<Branch>& branches) : sent_(sent) {
    std::string revisions = Excluding(sent);
    for (const Branch& branch : branches) revisions += branch.source.id + "\n";
    const std::string list = git.Require({"rev-list", "--parents", "--stdin"}, kNoCount, revisions);
    for (const std::string& line : Split(list, '\n')) {
      Ids ids = Split(line, ' ');
      const std::string id = ids.front();
      ids.erase(ids.begin());
      parents_[id] = std::move(ids);
    }
  }

  [[nodiscard]] Ids ParentsOf(const std::string& id) const {
    const auto found = parents_.find(id);
    return found == parents_.end() ? Ids() : found->second;
  }

  [[nodiscard]] Extent Of(const std::string& tip) const {
    Extent extent;
    std::set<std::string> seen = {tip};
    std::deque<std::string> next = {tip};
    for (; !next.empty() && extent.commits <= kMaxCommits; next.pop_front()) {
      const auto found = parents_.find(next.front());
      if (found == parents_.end()) {
        if (extent.fork.empty()) extent.fork = next.front();
        continue;
      }
      ++extent.commits;
      for (const std::string& parent : found->second) {
        if (seen.insert(parent).second) next.push_back(parent);
      }
    }
    const auto is_seen = [&](const std::string& id) { return seen.contains(id); };
    extent.has_sent = !next.empty() || std::any_of(sent_.begin(), sent_.end(), is_seen);
    return extent;
  }

 private:
  Ids sent_;
  std::unordered_map<std::string, Ids> parents_;
};

bool IsStash(const Branch& branch, const NewCommits& commits) {
  return branch.source.ref.starts_with("refs/stash") &&
         commits.ParentsOf(branch.source.id).size() > 1;
}

/// The paths that differ, by the commit, for lines such as "COMMIT PARENT" or "COMMIT".
std::map<std::string, Ids> ChangedPaths(const Git& git, const std::string& lines) {
  std::map<std::string, Ids> paths;
  const std::string list = git.Require(
      {"diff-tree", "--stdin", "--root", "-r", "-z", "--raw", "--no-renames"}, kNoCount, lines);
  const Ids parts = Split(list, '\0');
  std::string commit;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].starts_with(':')) {
      commit = parts[i];
    } else if (++i < parts.size()) {
      paths[commit].push_back(parts[i]);
    }
  }
  return paths;
}

/// The texts for the branches of one `take`, with few gits however many these are.
class Describer {
 public:
  Describer(const SideRepository& side, const std::string& from,
            const std::vector<Branch>& branches)
      : side_(side),
        from_(from),
        sent_(Existing(side.git(), {side.facts().sent, side.facts().base})),
        commits_(side.git(), sent_, branches) {
    std::string lines;
    for (const Branch& branch : branches) {
      const std::string& id = branch.source.id;
      const Ids parents = commits_.ParentsOf(id);
      const bool is_stash = IsStash(branch, commits_);
      const std::string below = is_stash ? parents[0] : commits_.Of(id).fork;
      if (!below.empty() && below != id) lines += id + " " + below + "\n";
      if (is_stash && parents.size() > 2) lines += parents[2] + "\n";
    }
    changed_ = ChangedPaths(side.git(), lines);
  }

  [[nodiscard]] std::string Text(const Branch& branch) const {
    const std::string name = Visible(branch.name);
    if (branch.old == branch.source.id) return Format("Branch {} has it already.", name);
    if (IsStash(branch, commits_)) return Format("Branch {}: {}", name, StashText(branch));
    const Extent extent = commits_.Of(branch.source.id);
    const std::string behind = BehindText(branch, extent);
    if (extent.commits == 0 && !behind.empty()) return Format("Branch {}: {}.", name, behind);
    return Format("Branch {}: {}{}{}{}.", name, extent.commits > kMaxCommits ? "more than " : "",
                  Count(std::min(extent.commits, kMaxCommits), "commit"), FilesText(branch, extent),
                  behind.empty() ? "" : "; " + behind);
  }

 private:
  [[nodiscard]] Ids ChangedIn(const std::string& id) const {
    const auto found = changed_.find(id);
    return found == changed_.end() ? Ids() : found->second;
  }

  [[nodiscard]] std::string StashText(const Branch& branch) const {
    const Ids parents = commits_.ParentsOf(branch.source.id);
    Ids added = parents.size() > 2 ? ChangedIn(parents[2]) : Ids();
    for (std::string& path : added) path = Visible(path);
    return Format("a stash, {} changed{}. To apply it: git stash apply {}",
                  Count(ChangedIn(branch.source.id).size(), "file"),
                  added.empty() ? "" : ", new: " + List(added, kMaxAdded), Word(branch.name));
  }

  /// The work is compared with all that was sent, as `diff` shows it.
  [[nodiscard]] std::string FilesText(const Branch& branch, const Extent& extent) const {
    const std::string& id = branch.source.id;
    const bool is_work = id == side_.facts().work;
    if (!is_work && extent.fork.empty()) return ", unrelated to what was sent";
    const std::size_t files = is_work ? CountChanged(side_, from_, id) : ChangedIn(id).size();
    return Format(", {} changed", Count(files, "file"));
  }

  [[nodiscard]] std::string BehindText(const Branch& branch, const Extent& extent) const {
    if (extent.has_sent || extent.fork.empty()) return "";
    const std::string number = side_.git().Require(
        {"rev-list", "--count", sent_.back(), "--not", branch.source.id}, kNoCount);
    return Format("{} behind what was sent", Count(std::stoull(number), "commit"));
  }

  const SideRepository& side_;
  const std::string from_;
  const Ids sent_;  ///< what of it git has
  const NewCommits commits_;
  std::map<std::string, Ids> changed_;
};

}  // namespace

std::vector<std::string> Describe(const SideRepository& side, const std::string& from,
                                  const std::vector<Branch>& branches) {
  const Describer describer(side, from, branches);
  std::vector<std::string> texts;
  for (const Branch& branch : branches) texts.push_back(describer.Text(branch));
  return texts;
}

}  // namespace copy
