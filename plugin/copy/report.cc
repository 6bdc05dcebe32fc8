#include "copy/report.h"

#include <fnmatch.h>

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "copy/saved_files.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// What is beyond these is counted or cut.
constexpr std::size_t kMaxLines = 20;
constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxTarget = 4096;

/// Printable, and with code points that are not seen as \xHH.
std::string Escaped(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    auto length = std::max<std::size_t>(1, support::FirstCharacterLength(name));
    // Printable escapes a part of a character.
    if (length > 1 && paths::FoldName(name.substr(0, length)).empty()) length = 1;
    text += support::Printable(name.substr(0, length));
    name.remove_prefix(length);
  }
  return text;
}

std::string More(std::size_t all, std::size_t shown) {
  return all > shown ? " and " + std::to_string(all - shown) + " more" : "";
}

void AddSection(Report& report, const std::string& title, const Names& lines) {
  if (lines.empty()) return;
  report.lines.push_back(title);
  for (std::size_t i = 0; i < lines.size() && i < kMaxLines; ++i) {
    report.lines.push_back("  " + lines[i]);
  }
  if (lines.size() > kMaxLines) report.lines.push_back(" " + More(lines.size(), kMaxLines));
}

/// The rows that are about files in a directory: a link in its place brings others.
std::vector<paths::HostProgram> RowsBelow(std::string_view path,
                                          const paths::HostPrograms& programs) {
  const std::string folded = "/" + Folded(path);
  std::vector<paths::HostProgram> rows;
  for (const paths::HostProgram& row : programs.rows()) {
    if (!row.keys.empty()) continue;
    for (const std::string_view word : support::Words(row.patterns)) {
      const bool is_anchored = word.starts_with('/');
      for (std::size_t end = word.find('/', 1); end < word.size() - 1;
           end = word.find('/', end + 1)) {
        const std::string directory((is_anchored ? "" : "*/") + std::string(word.substr(0, end)));
        if (fnmatch(directory.c_str(), folded.c_str(), 0) != 0) continue;
        rows.push_back(row);
        break;
      }
    }
  }
  return rows;
}

/// One line for each row of the table, so that many files cannot hide another.
Names ListObeyed(const std::vector<Change>& changes, const paths::HostPrograms& programs,
                 Report& report) {
  using Key = std::pair<paths::RunBy, std::string>;  // and what is said
  std::map<Key, Names> rows;
  for (const Change& change : changes) {
    if (change.has_only_other()) continue;
    bool is_protected = false;
    std::optional<Key> worst;
    const paths::HostProgram* const by_key = RowOfKey(change.key, programs);
    std::vector<paths::HostProgram> found =
        by_key != nullptr ? std::vector{*by_key} : RowsOfPath(change.path, programs);
    if (found.empty() && change.mode == kLink) found = RowsBelow(change.path, programs);
    for (const paths::HostProgram& row : found) {
      is_protected = is_protected || row.writing == paths::Writing::kRefused;
      if (worst && worst->first <= row.run_by) continue;
      worst = {row.run_by, std::string(row.program) + ": " + std::string(row.reason)};
    }
    // Without a file, a program does less, unless the file confined it.
    if (!worst || (change.is_deleted() && !is_protected)) continue;
    report.protected_files += is_protected ? 1 : 0;
    rows[*worst].push_back(Visible(change.path) +
                           (change.note.empty() ? "" : " (" + Visible(change.note) + ")") +
                           (change.is_deleted() ? " (deleted)" : ""));
  }
  Names lines;
  for (const auto& [key, names] : rows) lines.push_back(List(names) + ": " + key.second);
  return lines;
}

/// What differs between two commits, of which the guest may have made the second.
class Changes {
 public:
  Changes(const Git& git, const std::string& from, const std::string& work) : git_(git) {
    for (RawChange& raw :
         ParseRaw(Read({"diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", from, work}))) {
      list.push_back({std::move(raw)});
    }
    FindOthers(work);
    std::erase_if(list, [](const Change& change) {
      return change.old_mode == kDirectory || (change.mode == kDirectory && change.other.empty());
    });
    ReadTargets();
  }

  /// Paths that only a commit in between has changed: a checkout of that one, such as in a rebase,
  /// has them.
  void AddCommits(const std::string& from, const std::string& to) {
    std::set<std::string> known;
    for (const Change& change : list) known.insert(change.path);
    const std::string commits = Read({"rev-list", to, "--not", from});
    for (RawChange& raw : ParseRaw(Read({"diff-tree", "--stdin", "-r", "-m", "-z", "--raw",
                                         "--root", "--no-renames", "--no-commit-id"},
                                        commits))) {
      if (raw.mode == kNone || !known.insert(raw.path).second) continue;
      Change change{std::move(raw)};
      change.note = "in a commit in between";
      list.push_back(std::move(change));
    }
    ReadTargets();
  }

  std::vector<Change> list;
  bool is_cut = false;  ///< there is more than can be examined

 private:
  std::string Read(const Git::Arguments& arguments, const std::string& input = "") {
    GitOutput read = git_.Run(arguments, input);
    if (!read.ok()) throw support::CallError("git cannot list what was changed: " + read.words);
    is_cut = is_cut || read.is_cut;
    return std::move(read.output);
  }

  void ReadTargets() {
    std::string ids;
    const auto is_new = [](const Change& change) { return change.mode == kLink && !change.target; };
    for (const Change& change : list) {
      if (is_new(change)) ids += change.id + "\n";
    }
    if (ids.empty()) return;
    // "ID blob SIZE", line feed, target, line feed
    std::istringstream text(Read({"cat-file", "--batch"}, ids));
    for (Change& change : list) {
      if (!is_new(change)) continue;
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

  void FindOthers(const std::string& work) {
    std::unordered_map<std::string, Change*> added;  // by folded path
    for (Change& change : list) {
      if (change.old_mode == kNone) added.try_emplace(Folded(change.path), &change);
    }
    if (added.empty()) return;
    for (const std::string& name :
         Split(Read({"ls-tree", "-r", "-t", "-z", "--name-only", work}), '\0')) {
      const auto found = added.find(Folded(name));
      if (found != added.end() && found->second->path != name) found->second->other = name;
    }
  }

  const Git& git_;
};

/// That matches a path.
std::string Pattern(std::string_view path) {
  std::string pattern = Folded(path);
  for (char& c : pattern) c = std::string_view(" \n*?[\\").find(c) < 6 ? '?' : c;
  return pattern;
}

/// The user's hooks that are links into the project.
void AddLinkedHooks(const Git& users, const std::string& project,
                    std::vector<std::pair<std::string, std::string>>& rows) {
  const fs::path hooks =
      fs::path(users.Run({"rev-parse", "--path-format=absolute", "--git-common-dir"}).Line()) /
      "hooks";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(hooks, none)) {
    const auto below = support::PathBelow(fs::weakly_canonical(entry.path(), none).string(),
                                          fs::weakly_canonical(project, none).string());
    if (!below || below->empty() || below->starts_with(".git/")) continue;
    rows.emplace_back(
        "/" + Pattern(*below),
        "your .git/hooks/" + Visible(entry.path().filename().string()) + " is a link to it");
  }
}

/// Patterns and reasons of the files that the user's git runs or reads since its configuration
/// names them.
std::vector<std::pair<std::string, std::string>> ListConfigured(const Git& users,
                                                                const paths::HostPrograms& programs,
                                                                const std::string& project,
                                                                const std::string& branch) {
  std::vector<std::pair<std::string, std::string>> rows;
  const Names settings =  // "file:PATH", NUL, key, line feed, value, NUL
      Split(users.Run({"config", "-z", "--list", "--includes", "--show-origin"}).output, '\0');
  for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
    const auto [key, value] = KeyAndValue(settings[i + 1]);
    if (!settings[i].starts_with("file:") || RowOfKey(key, programs) == nullptr) continue;
    const bool is_include = key.starts_with("include");
    const fs::path base =
        is_include ? (project / fs::path(settings[i].substr(5))).parent_path() : fs::path(project);
    const bool is_hooks = key == "core.hookspath";
    std::string reason = "your " + Visible(key) + " names it";
    if (is_hooks) {
      reason +=
          ", git switch and merge may run it. To switch without: git -c core.hooksPath=/dev/null "
          "switch " +
          Visible(branch);
    }
    for (const std::string& path : NamedPaths(key, value, base)) {
      const auto below = support::PathBelow(path, project);
      if (!below) continue;
      std::string pattern = Pattern(*below);
      if (is_hooks) pattern = (pattern.empty() ? "*" : pattern) + "/";
      if (!pattern.empty()) rows.emplace_back("/" + pattern, reason);  // else such as ":"
    }
  }
  AddLinkedHooks(users, project, rows);
  return rows;
}

/// The user's ignored files that stand where the change has new ones: git overwrites them.
Names Overwritten(const Git& users, const fs::path& top, const std::vector<Change>& changes) {
  std::string paths;
  for (const Change& change : changes) {
    if (change.old_mode != kNone || change.has_only_other()) continue;
    for (std::size_t end = change.path.size(); end != std::string::npos;
         end = end == 0 ? std::string::npos : change.path.rfind('/', end - 1)) {
      const std::string path = change.path.substr(0, end);
      const fs::file_type type = TypeBelow(top, path);
      const bool is_same = end == change.path.size();
      const bool is_in_the_way =
          type != fs::file_type::not_found && (is_same || type != fs::file_type::directory);
      if (is_in_the_way) paths += path + '\0';
    }
  }
  if (paths.empty()) return {};
  Names names = Split(users.Run({"check-ignore", "-z", "--stdin"}, paths).output, '\0');
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::string& name : names) name = Visible(name);
  return names;
}

/// Files of git LFS that come as what they are not in the repository.
void AddLargeFiles(const Git& git, const std::vector<Change>& changes, Report& report) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  constexpr std::size_t kMaxPointer = 1024;  // as git-lfs itself has it
  std::string ids;
  for (const Change& change : changes) ids += change.id + "\n" + change.old_id + "\n";
  std::string small;
  const GitOutput sizes = git.Run({"cat-file", "--batch-check=%(objectname) %(objectsize)"}, ids);
  for (const std::string& line : Split(sizes.output, '\n')) {
    const auto words = Split(line, ' ');
    const bool is_small = words.size() == 2 && words[1].size() <= 4 && words[1] != "missing" &&
                          std::stoull(words[1]) <= kMaxPointer;
    if (is_small) small += words[0] + "\n";
  }
  std::set<std::string> pointers;
  const std::string contents = git.Run({"cat-file", "--batch"}, small).output;
  for (std::size_t at = 0; (at = contents.find(kPointer, at)) != std::string::npos; ++at) {
    // "ID blob SIZE", line feed, content
    if (at == 0 || contents[at - 1] != '\n') continue;
    const std::size_t line = contents.rfind('\n', at - 2) + 1;
    const auto words = Split(std::string_view(contents).substr(line, at - 1 - line), ' ');
    if (words.size() == 3 && words[1] == "blob") pointers.insert(words[0]);
  }
  Names only_pointers;
  Names plain;
  for (const Change& change : changes) {
    const bool was = pointers.contains(change.old_id);
    const bool is = pointers.contains(change.id);
    if (is) only_pointers.push_back(Visible(change.path));
    if (was && !is && !change.is_deleted()) plain.push_back(Visible(change.path));
  }
  AddSection(report, "Files of git LFS of which only the pointer comes:", only_pointers);
  AddSection(report, "Files of git LFS that come as plain files:", plain);
}

}  // namespace

std::string Folded(std::string_view path) {
  std::string folded;
  for (const std::string& name : Split(path, '/')) {
    folded += (folded.empty() ? "" : "/") + paths::FoldName(name);
  }
  return support::LowerCase(folded);
}

std::string Visible(std::string_view name) {
  return Escaped(support::WithoutCutEnd(name.substr(0, kMaxName))) +
         (name.size() > kMaxName ? "..." : "");
}

std::string List(const Names& names, std::size_t most) {
  const std::size_t shown = std::min(names.size(), most);
  return support::Join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}) +
         More(names.size(), shown);
}

const paths::HostProgram* RowOfKey(const std::string& key, const paths::HostPrograms& programs) {
  const auto matches = [&](std::string_view pattern) {
    return fnmatch(std::string(pattern).c_str(), key.c_str(), FNM_CASEFOLD) == 0;
  };
  for (const paths::HostProgram& row : programs.rows()) {
    const auto keys = support::Words(row.keys);
    if (std::any_of(keys.begin(), keys.end(), matches)) return &row;
  }
  return nullptr;
}

std::vector<paths::HostProgram> RowsOfPath(std::string_view path,
                                           const paths::HostPrograms& programs) {
  std::vector<paths::HostProgram> rows;
  for (const paths::HostMatch& match : programs.Match(path)) {
    const bool is_apart = match.row.writing == paths::Writing::kRefusedBesideHead;
    if (match.row.keys.empty() && !is_apart) rows.push_back(match.row);
  }
  return rows;
}

Names NamedPaths(const std::string& key, std::string value, const fs::path& directory) {
  const std::string whole = value;
  for (char& c : value) {
    if (std::string_view("\t\n\"'!;&|()=<>").find(c) != std::string_view::npos) c = ' ';
  }
  std::vector<std::string_view> words = support::Words(value);
  words.emplace_back(whole);
  Names named;
  for (std::string_view word : words) {
    fs::path base = directory;
    if (word.starts_with("~/")) {
      base = support::EnvironmentVariable("HOME");
      word.remove_prefix(2);
    }
    std::string path = support::CleanPath((base / word).string());
    // husky's files there run those beside it.
    if (key == "core.hookspath" && path.ends_with("/_")) path = support::ParentPath(path);
    named.push_back(std::move(path));
  }
  return named;
}

bool LeadsOut(std::string_view path, std::string_view target) {
  auto above = std::count(path.begin(), path.end(), '/');
  bool is_below_name = false;  // which may be a link: a ".." after it leads elsewhere
  for (const std::string& name : Split(target, '/')) {
    if (name == ".." && (is_below_name || --above < 0)) return true;
    if (name == "." || name == ".." || name.empty()) continue;
    if (Folded(name) == ".git") return true;
    is_below_name = true;
  }
  return target.starts_with('/');
}

Report ReportOn(const std::vector<Change>& changes, const paths::HostPrograms& programs,
                bool is_cut) {
  Names links;
  Names others;
  Names hidden;
  Names too_long;
  Names repositories;
  Names executables;
  for (const Change& change : changes) {
    const std::string name = Visible(change.path);
    if (change.mode == kLink && (!change.target || LeadsOut(change.path, *change.target))) {
      links.push_back(name + " -> " + Visible(change.target.value_or("(too long)")));
    }
    if (!change.other.empty()) others.push_back(name + ": " + Visible(change.other));
    if (change.has_only_other()) continue;
    if (Escaped(change.path) != change.path) hidden.push_back(name);
    const Names parts = Split(change.path, '/');
    const auto fits = [](const std::string& part) { return part.size() <= NAME_MAX; };
    if (!std::all_of(parts.begin(), parts.end(), fits)) too_long.push_back(name);
    if (change.mode == kRepositoryMode) repositories.push_back(name);
    if (change.mode == kProgram && change.old_mode != kProgram) executables.push_back(name);
  }
  Report report;
  AddSection(report, "Programs of this host run or obey:", ListObeyed(changes, programs, report));
  AddSection(report, "Links that may lead out of the project:", links);
  AddSection(report, "Names that a file system may take for another:", others);
  AddSection(report, "Names with characters that are not seen:", hidden);
  AddSection(report, "Names that are too long for a file system:", too_long);
  AddSection(report, "Submodules:", repositories);
  AddSection(report, "New executables:", executables);
  report.is_cut = is_cut;
  if (is_cut) report.lines.emplace_back("There is more than can be examined.");
  return report;
}

Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& to, const std::string& branch) {
  Changes changes(side.git(), from, to);
  if (!branch.empty()) changes.AddCommits(from, to);
  const auto configured = ListConfigured(users, programs, side.place().top, branch);
  std::vector<paths::HostProgram> rows;
  for (const auto& [pattern, reason] : configured) {
    rows.push_back({pattern, paths::RunBy::kConfigured, "git", reason});
  }
  paths::HostPrograms obeyed = programs;
  obeyed.Add(rows);
  Report report = ReportOn(changes.list, obeyed, changes.is_cut);
  Names ignoring;
  for (const Change& change : changes.list) {
    const std::string folded = Folded(change.path);
    if (("/" + folded).ends_with("/.gitignore")) ignoring.push_back(Visible(change.path));
  }
  AddSection(report,
             "Rules of what git ignores, which hide files and keep them out of commits:", ignoring);
  AddLargeFiles(side.git(), changes.list, report);
  if (!branch.empty()) {
    AddSection(report, "Ignored files of yours that git switch or merge would overwrite:",
               Overwritten(users, side.place().top, changes.list));
  }
  return report;
}

}  // namespace copy
