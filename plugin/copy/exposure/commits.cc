// SPDX-License-Identifier: Apache-2.0
#include "exposure/commits.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "exposure/git_settings.h"
#include "exposure/guest_reach.h"
#include "paths/names.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"

namespace exposure {

using paths::Folded;
using paths::HostProgram;
using paths::HostPrograms;
using paths::RunBy;
using paths::Visible;
using paths::Word;
using paths::Writing;
namespace {

namespace fs = std::filesystem;
using git::Git;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxTarget = 4096;

class CommitReader {
 public:
  CommitReader(const Git& git, const std::string& from, const std::string& to,
               git::TreeEntries tree, const std::set<std::string>& watched)
      : git_(git), from_(from), to_(to), watched_(watched) {
    changes_.tree = std::move(tree);
  }

  CommitChanges ReadAll(bool between, const std::map<std::string, std::string>& others,
                        const git::PatchSink& patch) {
    std::vector<Change>& list = changes_.list;
    for (git::RawChange& raw : git::Diff(git_, from_, to_, {}, patch)) {
      known_.emplace(raw.path, "");
      list.push_back({std::move(raw)});
    }
    if (between) {
      std::string tips = "^" + from_ + "\n^" + to_ + "\n";
      for (const auto& [id, branch] : others) tips += id + "\n";
      AddCommits(to_ + "\n^" + from_ + "\n", {});
      if (!others.empty()) AddCommits(tips, others);
    }
    if (!list.empty() && changes_.tree.empty()) {
      changes_.tree = git::Tree(git_, to_, &changes_.is_cut);
    }
    FindLookAlikes();
    ReadLinks();
    return std::move(changes_);
  }

 private:
  /// Finds names that a file system takes for new ones, also of directories.
  void FindLookAlikes() {
    std::unordered_map<std::string, std::pair<std::string, Change*>> added;  // by folded path
    for (Change& change : changes_.list) {
      if (change.old_mode != git::kNoEntry) continue;
      for (fs::path part = change.path; !part.empty(); part = part.parent_path()) {
        if (!added.try_emplace(Folded(part.string()), part.string(), &change).second) break;
      }
    }
    for (const git::TreeEntry& entry : changes_.tree) {
      const auto found = added.empty() ? added.end() : added.find(Folded(entry.path));
      if (found == added.end() || found->second.first == entry.path) continue;
      found->second.second->look_alike = entry.path;
    }
  }

  /// Adds paths that only commits in between have changed, the newest version of each. `branches`:
  /// the names of their tips.
  void AddCommits(const std::string& revisions,
                  const std::map<std::string, std::string>& branches) {
    const git::GitOutput log =
        git_.Run({"log", "--stdin", "--topo-order", "--source", "-z", "--raw", "--no-abbrev",
                  "--no-renames", "--diff-merges=first-parent", "--format=%S"},
                 revisions);
    if (!log.ok()) throw support::Error("git cannot list what was changed: " + log.error_line);
    changes_.is_cut = changes_.is_cut || log.is_cut;
    // For each commit its tip, NUL, a line feed, then for each change ":MODE …", NUL, the path,
    // NUL.
    const Names parts = git::Split(log.output, '\0');
    std::string branch;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::size_t start = parts[i].starts_with('\n') ? 1 : 0;
      if (parts[i].compare(start, 1, ":") != 0) {
        const auto tip = branches.find(parts[i]);
        branch = tip == branches.end() ? "" : tip->second;
        continue;
      }
      Change change{git::ParseRaw(parts[i].substr(start) + '\0' + parts[i + 1]).front()};
      ++i;
      if (change.is_deleted()) continue;
      if (!known_.emplace(change.path, branch).second && !watched_.contains(change.id)) continue;
      change.note = branch.empty() ? "in a commit in between" : "in " + branch;
      changes_.list.push_back(std::move(change));
    }
  }

  void ReadLinks() try {
    Names ids;
    for (const Change& change : changes_.list) {
      if (change.mode == kLinkMode) ids.push_back(change.id);
    }
    const auto targets = git::Contents(git_, ids, kMaxTarget, &changes_.is_cut);
    for (Change& change : changes_.list) {
      const auto found = targets.find(change.id);
      if (change.mode == kLinkMode && found != targets.end()) change.target = found->second;
    }
  } catch (const support::Error&) {
    changes_.is_cut = true;
  }

  const Git& git_;
  const std::string from_;
  const std::string to_;
  const std::set<std::string>& watched_;
  std::set<std::pair<std::string, std::string>> known_;  ///< paths, and the branch of each
  CommitChanges changes_;
};

/// The links in a directory; none if it cannot be read.
Names LinksIn(const fs::path& directory) {
  Names links;
  std::error_code error;
  for (fs::directory_iterator each(directory, error); !error && each != fs::directory_iterator();
       each.increment(error)) {
    std::error_code unknown;
    if (each->is_symlink(unknown)) links.push_back(each->path().string());
  }
  return links;
}

/// What of this host leads to files of the project, as rows of the table.
class HostRows {
 public:
  HostRows(const Git& users, const std::string& project, const std::string& branch)
      : users_(users), project_(ResolvedOnHost(project)), branch_(branch) {}

  std::vector<HostProgram> Find() {
    const HostProgram on_path{"", RunBy::kLooking, "shells", "your PATH leads to it"};
    for (const std::string& directory : git::Split(support::EnvironmentVariable("PATH"), ':')) {
      AddDirectory(directory, on_path, "");
    }
    const HostProgram in_home{"", RunBy::kLooking, "shells, programs",
                              "a link in your home directory leads to it", Writing::kRefused};
    const std::string home = support::EnvironmentVariable("HOME");
    for (const std::string& directory : {home, home + "/.config"}) {
      for (const std::string& link : LinksIn(directory)) Add(link, in_home, "");
    }
    AddConfigured();
    return std::move(rows_);
  }

 private:
  /// Keeps the texts of rows.
  std::string_view Text(std::string text) { return texts_.emplace_back(std::move(text)); }

  /// Adds each link on the way in the project, and what the path leads to. `all`: the pattern if
  /// that is the project itself; may be empty.
  void Add(const fs::path& path, HostProgram row, const std::string& all) {
    const std::vector<Step> steps = StepsOf(project_ / path);
    for (const Step& step : steps) {
      const bool counts = step.is_link || &step == &steps.back();
      const auto below = counts ? support::PathBelow(step.path, project_) : std::nullopt;
      if (!below || (*below + "/").starts_with(".git/")) continue;
      std::string pattern = below->empty() ? all : Folded(*below) + "/";
      for (char& c : pattern) c = std::string_view(" \n\\").find(c) < 3 ? '?' : c;
      if (pattern.empty() || pattern.starts_with("*/")) continue;  // as in safe.directory=*
      row.patterns = Text("/" + pattern);
      rows_.push_back(row);
    }
  }

  void AddDirectory(const fs::path& directory, const HostProgram& row, const std::string& all) {
    Add(directory, row, all);
    for (const std::string& link : LinksIn(project_ / directory)) Add(link, row, "");
  }

  void AddHooks(const fs::path& directory, std::string reason) {
    reason += ", git switch and merge may run it";
    if (!branch_.empty()) {
      reason += support::Format(". To switch without: git -c core.hooksPath=/dev/null switch {}",
                                Word(branch_));
    }
    AddDirectory(directory, {"", RunBy::kConfigured, "git", Text(std::move(reason))}, "*");
  }

  /// The files that the user's git runs or reads since its configuration names them.
  void AddConfigured() {
    const Names records =  // "file:PATH", NUL, key, line feed, value, NUL
        git::Split(users_.Require({"config", "-z", "--list", "--includes", "--show-origin"},
                                  "git cannot read its settings"),
                   '\0');
    std::map<std::string, Names> by_origin;
    for (std::size_t i = 0; i + 1 < records.size(); i += 2) {
      if (records[i].starts_with("file:")) by_origin[records[i]].push_back(records[i + 1]);
    }
    for (const auto& [origin, settings] : by_origin) {
      const fs::path file = fs::path(project_) / origin.substr(5);
      std::error_code none;  // The repository's own settings are beside its HEAD.
      if (fs::exists(file.parent_path() / "HEAD", none))
        AddHooks(file.parent_path() / "hooks", "your hooks lead to it");
      for (const auto& [key, setting] : NotHarmless(settings)) AddSetting(file, key, setting);
    }
  }

  void AddSetting(const fs::path& file, const std::string& key, const Setting& setting) {
    if (setting.is_upstream) return;
    const fs::path base = key.starts_with("include") ? file.parent_path() : fs::path(project_);
    const std::string reason = support::Format("your {} names it", Visible(key));
    const HostProgram row{"", RunBy::kConfigured, "git", Text(reason)};
    for (const std::string& value : setting.values) {
      for (const std::string& path : NamedPaths(key, value, base)) {
        if (key == "core.hookspath") {
          AddHooks(path, reason);
        } else {
          Add(path, row, "");
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
                          git::TreeEntries tree, const git::PatchSink& patch,
                          const std::set<std::string>& watched) {
  return CommitReader(git, from, to, std::move(tree), watched).ReadAll(between, others, patch);
}

Report ReportOnCommits(const CommitChanges& changes, const HostPrograms& programs, const Git& users,
                       const std::string& top, const std::string& branch) {
  HostRows host(users, top, branch);  // has the texts of the rows
  const std::vector<HostProgram> rows = host.Find();
  HostPrograms obeyed = programs;
  obeyed.Add(rows);
  return ReportOn(changes.list, obeyed, changes.is_cut);
}

}  // namespace exposure
