// SPDX-License-Identifier: Apache-2.0
#include "copy/untaken.h"

#include <algorithm>
#include <map>
#include <utility>

#include "copy/guest_copy.h"
#include "exposure/names.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/units.h"

namespace copy {

using exposure::List;
using exposure::Visible;
using git::GitOutput;
namespace {

using support::Format;

std::string Described(const std::string& raw) {
  const std::string name = Visible(raw);
  if (name.starts_with("tags/")) return Format("tag {}", name.substr(5));
  return name.starts_with("stash-") ? name : Format("branch {}", name);
}

}  // namespace

std::string RefName(std::string ref) {
  for (const char* prefix : {"refs/", "heads/"}) {
    if (ref.starts_with(prefix)) ref.erase(0, std::string_view(prefix).size());
  }
  return ref;
}

std::set<std::string> Held(const Target& target, std::vector<std::string> ids) try {
  std::erase(ids, "");
  if (ids.empty()) return {};
  const Git users = Git::Users(target.side.place().top, target.side.lock());
  const std::vector<std::string> existing = git::Existing(users, ids);
  if (existing.empty()) return {};
  const GitOutput others =
      users.Run({"rev-list", "--stdin", "--not", "--all"}, support::Join(existing, "\n"));
  if (!others.ok() || others.is_cut) return {};  // gc has deleted some objects
  std::set<std::string> held(existing.begin(), existing.end());
  for (const std::string& id : git::Split(others.output, '\n')) held.erase(id);
  return held;
} catch (const support::Error&) {
  return {};  // the project is gone
}

std::string Untaken::Summary() const {
  std::vector<std::string> parts;
  if (commits > 0) parts.push_back(support::Count(commits, "commit"));
  if (files > 0) parts.push_back(support::Count(files, "file"));
  std::vector<std::string> names;
  for (const Ref& ref : refs) names.push_back(Described(ref.name));
  for (const Rest& each : rest) names.push_back(each.name);
  if (!names.empty()) parts.push_back(List(names, 5));
  if (gone.empty()) return support::Join(parts);
  return Format("{} (gone, or without it: {})", support::Join(parts), List(gone));
}

void CompareWithHost(const Target& target, const std::string& work, Untaken& untaken) {
  const SidePlace& place = target.side.place();
  const CopyFacts& facts = target.side.facts();
  std::vector<std::string> ids = {work};
  for (const Untaken::Ref& ref : untaken.refs) ids.push_back(ref.id);
  std::set<std::string> taken = Held(target, ids);
  taken.insert({facts.sent, facts.applied});
  if (taken.contains(work)) untaken.commits = untaken.files = 0;
  std::erase_if(untaken.refs, [&](const auto& ref) { return taken.contains(ref.id); });
  std::erase_if(ids, [&](const std::string& id) { return taken.contains(id); });
  for (const auto& [name, branch] : TakenBranches(facts)) {
    if (std::find(ids.begin(), ids.end(), branch.id) != ids.end()) {
      untaken.gone.push_back(Visible(name));
    }
  }
  const std::string directory = support::CleanPath(facts.directory);
  for (const CopyFacts& other : ListFacts(place.instance_directory)) {
    const auto below = support::PathBelow(other.directory, directory);
    if (!below || below->empty()) continue;
    std::erase_if(untaken.rest, [&](const auto& rest) { return rest.name == *below; });
    untaken.rest.push_back({"copy", other.project});
  }
}

std::vector<std::string> RestLines(const Target& target, const Untaken& untaken) {
  const std::string& instance = target.side.place().instance;
  const std::string& directory = target.side.facts().directory;
  std::vector<std::string> lines;
  for (const auto& [kind, name] : untaken.rest) {
    std::string path = name.starts_with('/') ? name : directory + "/" + name;
    if (kind == "tag") path = directory;
    const std::string copy =
        Format("`limactl copy -r {} .` brings ", shell::ShellQuote(instance + ":" + path));
    const std::string git =
        Format("`limactl shell {} git -C {}", instance, shell::ShellQuote(path));
    const std::map<std::string, std::string> texts = {
        {"repository", Format("{} is a repository of its own; {}it", name, copy)},
        {"files", Format("{} is a submodule with changed files; {}them", name, copy)},
        {"commits", Format("{} is a submodule with commits; "
                           "{} bundle create - --all HEAD > submodule.bundle` brings them",
                           name, git)},
        {"worktree", Format("{} is a working tree with changes; {} stash -u` makes them a stash, "
                            "which take brings",
                            name, git)},
        {"tag", Format("the message of {}; {} cat-file -p {}` prints it", name, git,
                       shell::ShellQuote(name))},
        {"copy", Format("the copy of {} lies in this one; "
                        "`limactl mcp take {} --project {}` brings its work, "
                        "then the same with drop",
                        name, instance, shell::ShellQuote(name))}};
    const auto found = texts.find(kind);
    if (found != texts.end()) lines.push_back(Format("Note: not taken: {}", found->second));
  }
  return lines;
}

}  // namespace copy
