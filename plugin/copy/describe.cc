// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "copy/branches.h"
#include "copy/diff.h"
#include "git/objects.h"
#include "paths/names.h"
#include "support/format.h"
#include "support/join.h"
#include "support/units.h"

namespace copy {
namespace {

using support::Count;
using support::Format;
using Ids = std::vector<std::string>;

/// Each takes three gits.
constexpr std::size_t kMaxDescribed = 5;

/// How many commits one has and the others have not.
std::size_t CountCommits(const Git& git, const std::string& id, const Ids& others) {
  Git::Arguments arguments = {"rev-list", "--count", id, "--not"};
  arguments.insert(arguments.end(), others.begin(), others.end());
  return std::stoull(git.Require(arguments, "git cannot count what is new"));
}

/// `sent`: what git has of it.
std::string Text(const SideRepository& side, const std::string& from, const Ids& sent,
                 const Branch& branch) {
  const Git& git = side.git();
  const std::string& id = branch.source.id;
  const std::string name = paths::Visible(branch.name);
  if (branch.old == id) return Format("Branch {} has it already.", name);
  if (branch.source.is_stash()) {
    return Format("Branch {}: a stash. To apply it: git stash apply {}", name,
                  paths::Word(branch.name));
  }
  // The work is compared as `diff` does.
  const bool is_work = id == side.facts().work;
  std::string fork = from;
  if (!is_work) fork = sent.empty() ? "" : git.Run({"merge-base", sent.front(), id}).Line();
  const std::size_t commits = CountCommits(git, id, sent);
  const std::size_t behind = sent.empty() ? 0 : CountCommits(git, sent.back(), {id});
  Ids parts;
  if (commits > 0) parts.push_back(Count(commits, "commit"));
  if (fork.empty()) {
    parts.emplace_back("unrelated to what was sent");
  } else {
    if (commits > 0)
      parts.push_back(Format("{} changed", Count(CountChanged(side, fork, id), "file")));
    if (behind > 0) parts.push_back(Format("{} behind what was sent", Count(behind, "commit")));
  }
  return Format("Branch {}: {}.", name, support::Join(parts));
}

}  // namespace

std::vector<std::string> Describe(const SideRepository& side, const std::string& from,
                                  const std::vector<Branch>& branches) {
  const Ids sent = git::Existing(side.git(), {side.facts().sent, side.facts().base});
  std::vector<std::string> texts;
  for (const Branch& branch : branches) {
    texts.push_back(texts.size() < kMaxDescribed
                        ? Text(side, from, sent, branch)
                        : Format("Branch {}.", paths::Visible(branch.name)));
  }
  return texts;
}

}  // namespace copy
