// SPDX-License-Identifier: Apache-2.0
#include "exposure/commits.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "exposure/git_settings.h"
#include "exposure/names.h"
#include "support/errors.h"
#include "support/paths.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;
using git::Git;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxTarget = 4096;
/// Many links to one directory multiply what was changed there. In bytes; each counts as 300 more.
constexpr std::size_t kMaxSeen = std::size_t{32} << 20;
/// That lead to each other.
constexpr std::size_t kMaxLinks = 8;

class CommitReader {
 public:
  CommitReader(const Git& git, const std::string& from, const std::string& to)
      : git_(git), from_(from), to_(to) {}

  CommitChanges ReadAll(bool between) {
    std::vector<Change>& list = changes_.list;
    for (git::RawChange& raw : git::ParseRaw(
             Read({"diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", from_, to_}))) {
      list.push_back({std::move(raw)});
    }
    if (!list.empty()) ReadTree();
    std::erase_if(list, [](const Change& change) {
      return change.old_mode == kTreeMode ||
             (change.mode == kTreeMode && change.look_alike.empty());
    });
    if (between) AddCommitsBetween();
    ReadTargets(list);
    AddSeenThroughLinks();
    return std::move(changes_);
  }

 private:
  std::string Read(const Git::Arguments& arguments, const std::string& input = "") {
    git::GitOutput read = git_.Run(arguments, input);
    if (!read.ok())
      throw support::CommandError("git cannot list what was changed: " + read.error_line);
    changes_.is_cut = changes_.is_cut || read.is_cut;
    return std::move(read.output);
  }

  /// Finds names that a file system takes for new ones, and links.
  void ReadTree() {
    std::unordered_map<std::string, Change*> added;  // by folded path
    for (Change& change : changes_.list) {
      if (change.old_mode == git::kNoEntry) added.try_emplace(Folded(change.path), &change);
    }
    // mode, " TYPE ", id, tab, path
    for (const std::string& line : git::Split(Read({"ls-tree", "-r", "-t", "-z", to_}), '\0')) {
      const std::size_t tab = line.find('\t');
      const std::string path = line.substr(tab + 1);
      if (line.starts_with(kLinkMode)) {
        Change link;
        link.path = path;
        link.mode = kLinkMode;
        link.id = line.substr(line.rfind(' ', tab) + 1, tab - line.rfind(' ', tab) - 1);
        links_.push_back(std::move(link));
      }
      if (added.empty()) continue;
      const auto found = added.find(Folded(path));
      if (found != added.end() && found->second->path != path) found->second->look_alike = path;
    }
    ReadTargets(links_);
  }

  void AddCommitsBetween() {
    std::set<std::string> known;
    for (const Change& change : changes_.list) known.insert(change.path);
    const std::string commits = Read({"rev-list", to_, "--not", from_});
    for (git::RawChange& raw :
         git::ParseRaw(Read({"diff-tree", "--stdin", "-r", "-m", "-z", "--raw", "--root",
                             "--no-renames", "--no-commit-id"},
                            commits))) {
      if (raw.mode == git::kNoEntry || !known.insert(raw.path).second) continue;
      Change change{std::move(raw)};
      change.note = "in a commit in between";
      changes_.list.push_back(std::move(change));
    }
  }

  void ReadTargets(std::vector<Change>& changes) {
    std::string ids;
    for (const Change& change : changes) {
      if (change.mode == kLinkMode) ids += change.id + "\n";
    }
    if (ids.empty()) return;
    // "ID blob SIZE", line feed, target, line feed
    std::istringstream text(Read({"cat-file", "--batch"}, ids));
    for (Change& change : changes) {
      if (change.mode != kLinkMode) continue;
      std::string id;
      std::string type;
      std::size_t size = 0;
      text >> id >> type >> size;
      text.get();
      std::string target(std::min(size, kMaxTarget), '\0');
      text.read(target.data(), static_cast<std::streamsize>(target.size()));
      text.ignore(static_cast<std::streamsize>(size - target.size()));
      if (text && size <= kMaxTarget) change.target = std::move(target);
    }
  }

  /// Adds the paths that programs also see under another path, through one link or several, but
  /// none twice.
  void AddSeenThroughLinks() {
    std::multimap<std::string, std::string, std::less<>> links;  // by where they lead
    for (const Change& link : links_) {
      if (!link.target || LeadsOut(link.path, *link.target)) continue;
      const fs::path target = fs::path("/" + link.path).parent_path() / *link.target;
      links.emplace(support::CleanPath(target.string()).substr(1), link.path);
    }
    std::size_t bytes = 0;
    std::vector<std::set<std::string_view>> followed(changes_.list.size());
    for (std::size_t i = 0; i < changes_.list.size() && !links.empty(); ++i) {
      const std::string& key = changes_.list[i].key;
      const std::string path = key.empty() ? changes_.list[i].path : key.substr(kSeenAs.size());
      for (std::size_t end = path.size(); end != std::string::npos;
           end = end == 0 ? std::string::npos : path.rfind('/', end - 1)) {
        const auto [first, last] = links.equal_range(std::string_view(path).substr(0, end));
        for (auto link = first; link != last; ++link) {
          if (followed[i].contains(link->second)) continue;
          Change through = changes_.list[i];
          through.key = std::string(kSeenAs) + link->second + path.substr(end);
          through.note = through.key;
          bytes += 300 + through.path.size() + 2 * through.key.size();
          changes_.is_cut = changes_.is_cut || bytes > kMaxSeen || followed[i].size() >= kMaxLinks;
          if (changes_.is_cut) return;
          changes_.list.push_back(std::move(through));
          followed.push_back(followed[i]);
          followed.back().insert(link->second);
        }
      }
    }
  }

  const Git& git_;
  const std::string from_;
  const std::string to_;
  std::vector<Change> links_;  ///< of the second commit's tree
  CommitChanges changes_;
};

std::string PatternOf(std::string_view path) {
  std::string pattern = Folded(path);
  for (char& c : pattern) c = std::string_view(" \n*?[\\").find(c) < 6 ? '?' : c;
  return pattern;
}

/// The user's hooks that are links into the project.
void AddLinkedHooks(const Git& users, const std::string& project,
                    std::vector<std::pair<std::string, std::string>>& rows) {
  std::error_code none;
  const fs::path hooks = fs::weakly_canonical(
      users.Require({"rev-parse", "--path-format=absolute", "--git-common-dir"},
                    "git cannot find its directory") +
          "/hooks",
      none);
  for (const auto& entry : fs::directory_iterator(hooks, none)) {
    fs::path path = entry.path();
    if (entry.is_symlink(none)) path = hooks / fs::read_symlink(path, none);  // maybe to another
    const auto below = support::PathBelow(
        (fs::weakly_canonical(path.parent_path(), none) / path.filename()).string(),
        fs::weakly_canonical(project, none).string());
    if (!below || below->empty() || below->starts_with(".git/")) continue;
    rows.emplace_back("/" + PatternOf(*below),
                      support::Format("your .git/hooks/{} is a link to it",
                                      Visible(entry.path().filename().string())));
  }
}

/// Patterns and reasons of the files that the user's git runs or reads since its configuration
/// names them.
std::vector<std::pair<std::string, std::string>> ListConfigured(const Git& users,
                                                                const std::string& project,
                                                                const std::string& branch) {
  std::vector<std::pair<std::string, std::string>> rows;
  const Names settings =  // "file:PATH", NUL, key, line feed, value, NUL
      git::Split(users.Require({"config", "-z", "--list", "--includes", "--show-origin"},
                               "git cannot read its settings"),
                 '\0');
  const auto keys = NotHarmless(settings);
  for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
    const auto [key, value] = git::KeyAndValue(settings[i + 1]);
    if (!settings[i].starts_with("file:") || !keys.contains(key)) continue;
    const bool is_include = key.starts_with("include");
    const fs::path base =
        is_include ? (project / fs::path(settings[i].substr(5))).parent_path() : fs::path(project);
    const bool is_hooks = key == "core.hookspath";
    std::string reason = support::Format("your {} names it", Visible(key));
    if (is_hooks) {
      reason += ", git switch and merge may run it";
      if (!branch.empty()) {
        reason += ". To switch without: git -c core.hooksPath=/dev/null switch " + Visible(branch);
      }
    }
    for (const std::string& path : NamedPaths(key, value, base)) {
      const auto below = support::PathBelow(path, project);
      if (!below) continue;
      std::string pattern = PatternOf(*below);
      if (is_hooks) pattern = (pattern.empty() ? "*" : pattern) + "/";
      if (!pattern.empty()) rows.emplace_back("/" + pattern, reason);  // else such as ":"
    }
  }
  AddLinkedHooks(users, project, rows);
  return rows;
}

}  // namespace

CommitChanges ReadCommits(const Git& git, const std::string& from, const std::string& to,
                          bool between) {
  return CommitReader(git, from, to).ReadAll(between);
}

Report ReportOnCommits(const CommitChanges& changes, const HostPrograms& programs, const Git& users,
                       const std::string& top, const std::string& branch) {
  const auto configured = ListConfigured(users, top, branch);
  std::vector<HostProgram> rows;
  for (const auto& [pattern, reason] : configured) {
    rows.push_back({pattern, RunBy::kConfigured, "git", reason});
  }
  HostPrograms obeyed = programs;
  obeyed.Add(rows);
  return ReportOn(changes.list, obeyed, changes.is_cut);
}

}  // namespace exposure
