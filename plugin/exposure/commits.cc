// SPDX-License-Identifier: Apache-2.0
#include "exposure/commits.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "exposure/git_directory.h"
#include "exposure/git_settings.h"
#include "exposure/guest_reach.h"
#include "exposure/links.h"
#include "exposure/names.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/paths.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;
using git::Git;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxTarget = 4096;
/// Bytes of a pointer of git LFS: what its text needs, and what git-lfs itself takes for one.
constexpr std::size_t kMinPointer = 100;
constexpr std::size_t kMaxPointer = 1024;
/// Many links to one directory multiply what was changed there. In bytes; each counts as 300 more.
constexpr std::size_t kMaxSeen = std::size_t{32} << 20;
/// That lead to each other.
constexpr std::size_t kMaxLinks = 8;

bool IsFile(std::string_view mode) {
  return mode != git::kNoEntry && mode != kTreeMode && mode != git::kRepositoryMode;
}

class CommitReader {
 public:
  CommitReader(const Git& git, const std::string& from, const std::string& to,
               git::TreeEntries tree)
      : git_(git), from_(from), to_(to) {
    changes_.tree = std::move(tree);
  }

  CommitChanges ReadAll(bool between, const std::map<std::string, std::string>& others,
                        const git::PatchSink& patch) {
    std::vector<Change>& list = changes_.list;
    for (git::RawChange& raw : git::Diff(git_, from_, to_, {"-t"}, patch)) {
      list.push_back({std::move(raw)});
    }
    if (between) AddCommitsBetween(others);
    if (!list.empty() && changes_.tree.empty()) {
      changes_.tree = git::Tree(git_, to_, &changes_.is_cut);
    }
    if (!list.empty()) ReadTree();
    std::erase_if(list, [](const Change& change) {
      return change.old_mode == kTreeMode ||
             (change.mode == kTreeMode && change.look_alike.empty());
    });
    ReadContents();
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
    for (const git::TreeEntry& entry : changes_.tree) {
      if (entry.mode == kLinkMode) links_.push_back({{entry.path, "", entry.mode, entry.id, ""}});
      if (added.empty()) continue;
      const auto found = added.find(Folded(entry.path));
      if (found != added.end() && found->second->path != entry.path) {
        found->second->look_alike = entry.path;
      }
    }
    for (const Change& change : changes_.list) {
      if (change.mode == kLinkMode && !change.note.empty()) links_.push_back(change);
    }
  }

  /// Those of the other branches, too, so that many cost what one costs.
  void AddCommitsBetween(const std::map<std::string, std::string>& others) {
    std::map<std::string, std::string> branches;  // by commit; empty: the second commit's own
    std::string commits = Read({"rev-list", "--topo-order", to_, "--not", from_});
    for (const std::string& commit : git::Split(commits, '\n')) branches[commit];
    std::string tips = "^" + from_ + "\n^" + to_ + "\n";
    for (const auto& [id, branch] : others) tips += id + "\n";
    for (const std::string& line : git::Split(
             Read({"log", "--stdin", "--topo-order", "--source", "--format=%H %S"}, tips), '\n')) {
      const std::string commit = line.substr(0, line.find(' '));
      const auto tip = others.find(line.substr(std::min(commit.size() + 1, line.size())));
      if (tip == others.end()) continue;  // the last line was cut
      branches[commit] = tip->second;
      commits += commit + "\n";
    }
    AddChangesOf(commits, branches);
  }

  void AddChangesOf(const std::string& commits,
                    const std::map<std::string, std::string>& branches) {
    constexpr std::size_t kNone = std::string::npos;
    std::vector<Change>& list = changes_.list;
    std::map<std::pair<std::string, std::string>, std::size_t> known;
    for (const Change& change : list) known[{change.path, ""}] = kNone;
    // The commit, and ":MODE …", the path for each change; newer commits come first.
    const Names parts = git::Split(Read({"diff-tree", "--stdin", "-r", "-z", "--raw", "--root",
                                         "--diff-merges=first-parent", "--no-renames"},
                                        commits),
                                   '\0');
    std::string branch;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (!parts[i].starts_with(':')) {
        const auto commit = branches.find(parts[i]);
        if (commit != branches.end()) branch = commit->second;
        continue;
      }
      Change change{git::ParseRaw(parts[i] + '\0' + parts[i + 1]).front()};
      ++i;
      if (change.is_deleted() && branch.empty()) continue;
      const auto [first, is_new] = known.emplace(std::pair(change.path, branch), list.size());
      if (is_new) {
        change.note = branch.empty() ? "in a commit in between" : "in " + branch;
        list.push_back(std::move(change));
      } else if (first->second != kNone) {
        Change& newer = list[first->second];
        if (newer.is_deleted()) {
          newer.mode = change.mode;
          newer.id = change.id;
        }
        newer.old_mode = change.old_mode;
        newer.old_id = change.old_id;
      }
    }
  }

  /// Reads links, and files that may be pointers of git LFS.
  void ReadContents() {
    std::unordered_map<std::string_view, std::uint64_t> sizes;
    for (const git::TreeEntry& entry : changes_.tree) sizes.emplace(entry.id, entry.size);
    std::vector<std::string> ids;
    for (const Change& link : links_) ids.push_back(link.id);
    for (const Change& change : changes_.list) {
      const auto size = sizes.find(change.id);
      const bool is_small =
          size == sizes.end() || (size->second >= kMinPointer && size->second <= kMaxPointer);
      if (IsFile(change.mode) && (is_small || change.mode == kLinkMode)) ids.push_back(change.id);
      if (IsFile(change.mode) && IsFile(change.old_mode)) ids.push_back(change.old_id);
    }
    try {
      changes_.small = git::Contents(git_, ids, kMaxTarget, &changes_.is_cut);
    } catch (const support::Error&) {
      changes_.is_cut = true;
    }
    for (auto* const list : {&changes_.list, &links_}) {
      for (Change& change : *list) {
        const auto found = changes_.small.find(change.id);
        if (change.mode == kLinkMode && found != changes_.small.end())
          change.target = found->second;
      }
    }
  }

  /// Adds the paths that programs also see under another path, through one link or several, but
  /// none twice.
  void AddSeenThroughLinks() {
    std::multimap<std::string, std::string, std::less<>> links;  // by where they lead
    for (const Change& link : links_) {
      if (!link.target) continue;
      // Without a look at links on its way.
      const fs::path target = fs::path(link.path).parent_path() / *link.target;
      const std::string path = support::CleanPath(target.string());
      const bool leads_out = path == "." || path == ".." || path.starts_with("../");
      if (!leads_out && !path.starts_with('/')) links.emplace(path, link.path);
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

/// What of this host leads to files of the project, as rows of the table.
class Ways {
 public:
  Ways(const Git& users, const std::string& project, const std::string& branch)
      : users_(users), project_(ResolvedOnHost(project)), branch_(branch) {}

  std::vector<HostProgram> Find() {
    for (const auto& [path, key] : WaysOfHost(support::EnvironmentVariable("PATH"))) {
      Add(path, key == kPathKey ? kOnPath : kInHome, "/", "");
    }
    AddHooks(GitDirectory(project_).second / "hooks", Text("your .git/hooks leads to it"));
    AddConfigured();
    return std::move(rows_);
  }

 private:
  /// Keeps the texts of rows.
  std::string_view Text(std::string text) { return texts_.emplace_back(std::move(text)); }

  /// Adds each link on the way in the project, and what it leads to, with `rest` after it. `all`:
  /// the pattern if that is the project itself; may be empty.
  void Add(const std::string& path, HostProgram row, const char* rest, const std::string& all) {
    Walk(project_, path, [&](const Step& step) {
      const bool counts = step.IsLink() || step.is_end;
      const auto below = counts ? support::PathBelow(step.path, project_) : std::nullopt;
      if (!below || (*below + "/").starts_with(".git/")) return true;
      const std::string pattern = below->empty() ? all : PatternOf(*below);
      if (pattern.empty()) return true;
      row.patterns = Text("/" + pattern + (step.is_end ? rest : ""));
      rows_.push_back(row);
      return true;
    });
  }

  void AddHooks(const std::string& directory, std::string_view reason) {
    const HostProgram row{"", RunBy::kConfigured, "git", reason};
    Add(directory, row, "/", "*");
    for (const std::string& link : LinksIn(directory)) Add(link, row, "/", "");
  }

  /// The files that the user's git runs or reads since its configuration names them.
  void AddConfigured() {
    const Names settings =  // "file:PATH", NUL, key, line feed, value, NUL
        git::Split(users_.Require({"config", "-z", "--list", "--includes", "--show-origin"},
                                  "git cannot read its settings"),
                   '\0');
    const auto keys = NotHarmless(settings);
    for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
      const auto [key, value] = git::KeyAndValue(settings[i + 1]);
      if (!settings[i].starts_with("file:") || !keys.contains(key)) continue;
      const bool is_include = key.starts_with("include");
      const fs::path base = is_include ? (project_ / fs::path(settings[i].substr(5))).parent_path()
                                       : fs::path(project_);
      std::string reason = support::Format("your {} names it", Visible(key));
      if (key == "core.hookspath") reason += ", git switch and merge may run it";
      if (key == "core.hookspath" && !branch_.empty()) {
        reason += support::Format(". To switch without: git -c core.hooksPath=/dev/null switch {}",
                                  Word(branch_));
      }
      const std::string_view text = Text(std::move(reason));
      for (const std::string& path : NamedPaths(key, value, base)) {
        if (key == "core.hookspath") {
          AddHooks(path, text);
        } else {
          Add(path, {"", RunBy::kConfigured, "git", text}, "", "");
        }
      }
    }
  }

  const Git& users_;
  const std::string project_;
  const std::string branch_;
  std::deque<std::string> texts_;
  std::vector<HostProgram> rows_;
};

}  // namespace

CommitChanges ReadCommits(const Git& git, const std::string& from, const std::string& to,
                          bool between, const std::map<std::string, std::string>& others,
                          git::TreeEntries tree, const git::PatchSink& patch) {
  return CommitReader(git, from, to, std::move(tree)).ReadAll(between, others, patch);
}

Report ReportOnCommits(const CommitChanges& changes, const HostPrograms& programs, const Git& users,
                       const std::string& top, const std::string& branch) {
  Ways ways(users, top, branch);  // has the texts of the rows
  const std::vector<HostProgram> rows = ways.Find();
  HostPrograms obeyed = programs;
  obeyed.Add(rows);
  return ReportOn(changes.list, obeyed, changes.is_cut);
}

}  // namespace exposure
