#include "copy/report.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

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

/// Of one git's output.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTarget = 4096;

// What is beyond these is counted or cut.
constexpr std::size_t kMaxLines = 20;
constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kMaxName = 200;

constexpr std::string_view kClasses = "AQGBPX";  // the most dangerous first

// The modes of a tree's entries.
constexpr const char* kNone = "000000";
constexpr const char* kDirectory = "040000";
constexpr const char* kProgram = "100755";
constexpr const char* kLink = "120000";

struct Change : RawChange {
  std::string folded;                      ///< the path: see Folded
  std::optional<std::string> target = {};  ///< of a link; nothing if it is too long
  std::string other = {};  ///< a path of the tree that a file system may take for a new one

  [[nodiscard]] bool is_deleted() const { return mode == kNone; }
};

/// For comparing paths as file systems may: those that one does not tell apart are the same.
std::string Folded(std::string_view path) {
  std::string folded;
  for (const std::string& name : Split(path, '/')) {
    folded += (folded.empty() ? "" : "/") + paths::FoldName(name);
  }
  for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return folded;
}

/// What differs between two commits, of which the guest may have made the second.
class Changes {
 public:
  Changes(const Git& git, const std::string& from, const std::string& work) : git_(git) {
    // A new directory comes before what is in it.
    Names directories;
    std::string links;
    for (RawChange& raw :
         ParseRaw(Read({"diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", from, work}))) {
      if (raw.old_mode == kNone) directories.push_back(raw.path);
      if (raw.mode == kDirectory || raw.old_mode == kDirectory) continue;
      for (std::string& path : directories) added_.try_emplace(Folded(path), path, list.size());
      directories.clear();
      if (raw.mode == kLink) links += raw.id + "\n";
      std::string folded = Folded(raw.path);
      list.push_back({std::move(raw), std::move(folded)});
    }
    if (!links.empty()) ReadTargets(links);
    if (!added_.empty()) FindOthers(work);
  }

  std::vector<Change> list;
  bool is_cut = false;  ///< there is more than can be examined

 private:
  /// The output of git, which the guest may have made large.
  std::string Read(const Git::Arguments& arguments, const std::string& input = {}) {
    const support::FileDescriptor text = TextFile(input);
    support::Child child = git_.Start(arguments, {.input = text.get()});
    std::string output;
    child.Read([&](std::string_view bytes) {
      output += bytes;
      return output.size() <= kMaxBytes;
    });
    is_cut = is_cut || output.size() > kMaxBytes;
    if (output.size() <= kMaxBytes) RequireSuccess(child, "git cannot list what was changed");
    return output;
  }

  void ReadTargets(const std::string& ids) {
    // "ID blob SIZE", line feed, target, line feed
    std::istringstream text(Read({"cat-file", "--batch"}, ids));
    for (Change& change : list) {
      if (change.mode != kLink) continue;
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
    for (const std::string& name :
         Split(Read({"ls-tree", "-r", "-t", "-z", "--name-only", work}), '\0')) {
      const auto found = added_.find(Folded(name));
      if (found == added_.end() || found->second.first == name) continue;
      std::string& other = list[found->second.second].other;
      if (other.empty()) other = name;
    }
  }

  const Git& git_;
  /// New names, folded, with directories → name and the change to report it with.
  std::unordered_map<std::string, std::pair<std::string, std::size_t>> added_;
};

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

std::string Visible(std::string_view name) {
  return Escaped(support::WithoutCutEnd(name.substr(0, kMaxName))) +
         (name.size() > kMaxName ? "..." : "");
}

std::string More(std::size_t all, std::size_t shown) {
  return all > shown ? " and " + std::to_string(all - shown) + " more" : "";
}

std::string List(const Names& names) {
  Names shown;
  for (std::size_t i = 0; i < names.size() && i < kMaxNames; ++i) shown.push_back(names[i]);
  return support::Join(shown) + More(names.size(), kMaxNames);
}

void AddSection(Report& report, const std::string& title, const Names& lines) {
  if (lines.empty()) return;
  report.lines.push_back(title);
  for (std::size_t i = 0; i < lines.size() && i < kMaxLines; ++i) {
    report.lines.push_back("  " + lines[i]);
  }
  if (lines.size() > kMaxLines) report.lines.push_back(" " + More(lines.size(), kMaxLines));
}

/// One line for each row of the table, so that many files cannot hide another.
Names ListObeyed(const std::vector<Change>& changes, const paths::HostPrograms& programs,
                 Report& report) {
  using Key = std::pair<std::size_t, std::string>;  // the class's place, and what is said
  std::map<Key, Names> rows;
  for (const Change& change : changes) {
    bool is_protected = false;
    std::optional<Key> worst;
    for (const paths::HostMatch& match : programs.Match(change.path)) {
      const paths::HostProgram& row = match.row;
      if (!row.keys.empty() || row.writing == paths::Writing::kRefusedBesideHead) continue;
      is_protected = is_protected || row.writing == paths::Writing::kRefused;
      Key key{kClasses.find(static_cast<char>(row.run_by)),
              std::string(row.program) + ": " + std::string(row.reason)};
      if (!worst || key.first < worst->first) worst = std::move(key);
    }
    // Without a file, a program does less, unless the file confined it.
    if (!worst || (change.is_deleted() && !is_protected)) continue;
    report.protected_files += is_protected ? 1 : 0;
    rows[*worst].push_back(Visible(change.path) + (change.is_deleted() ? " (deleted)" : ""));
  }
  Names lines;
  for (const auto& [key, names] : rows) lines.push_back(List(names) + ": " + key.second);
  return lines;
}

bool IsCommand(const std::string& key, const paths::HostPrograms& programs) {
  const auto matches = [&](std::string_view pattern) {
    return fnmatch(std::string(pattern).c_str(), key.c_str(), FNM_CASEFOLD) == 0;
  };
  return std::any_of(programs.rows().begin(), programs.rows().end(), [&](const auto& row) {
    const auto keys = support::Words(row.keys);
    return std::any_of(keys.begin(), keys.end(), matches);
  });
}

/// The paths that a value may name, absolute.
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

/// What the user's git runs or reads since its configuration names it.
Names ListConfigured(const std::vector<Change>& changes, const Git& users,
                     const paths::HostPrograms& programs, const std::string& project,
                     const std::string& branch) {
  Names lines;
  const Names settings =  // "file:PATH", NUL, key, line feed, value, NUL
      Split(users.Run({"config", "-z", "--list", "--includes", "--show-origin"}).output, '\0');
  for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
    const std::size_t end = std::min(settings[i + 1].find('\n'), settings[i + 1].size());
    const std::string key = settings[i + 1].substr(0, end);
    if (!settings[i].starts_with("file:") || !IsCommand(key, programs)) continue;
    const bool is_include = key.starts_with("include");
    const fs::path base =
        is_include ? (project / fs::path(settings[i].substr(5))).parent_path() : fs::path(project);
    const bool is_hooks = key == "core.hookspath";
    std::set<std::string> found;
    for (const std::string& path : NamedPaths(key, settings[i + 1].substr(end), base)) {
      const auto below = support::PathBelow(path, project);
      if (!below) continue;
      const std::string named = Folded(*below);
      for (const Change& change : changes) {
        if (change.is_deleted()) continue;
        const bool is_below = named.empty() || change.folded.starts_with(named + "/");
        if (change.folded == named || (is_hooks && is_below)) found.insert(Visible(change.path));
      }
    }
    if (found.empty()) continue;
    lines.push_back(List({found.begin(), found.end()}) + ": git: your " + Visible(key) +
                    " names it");
    if (!is_hooks) continue;
    lines.push_back(
        "  git switch and merge may run it. To switch without: git -c "
        "core.hooksPath=/dev/null switch " +
        Visible(branch));
  }
  return lines;
}

}  // namespace

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

Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch) {
  const Changes changes(side.git(), from, side.facts().work);
  Names links;
  Names others;
  Names hidden;
  Names repositories;
  Names executables;
  for (const Change& change : changes.list) {
    const std::string name = Visible(change.path);
    if (change.mode == kLink && (!change.target || LeadsOut(change.path, *change.target))) {
      links.push_back(name + " -> " + Visible(change.target.value_or("(too long)")));
    }
    if (!change.other.empty()) others.push_back(name + ": " + Visible(change.other));
    if (Escaped(change.path) != change.path) hidden.push_back(name);
    if (change.mode == kRepositoryMode) repositories.push_back(name);
    if (change.mode == kProgram && change.old_mode != kProgram) executables.push_back(name);
  }
  Report report;
  Names obeyed = ListConfigured(changes.list, users, programs, side.facts().project, branch);
  for (std::string& line : ListObeyed(changes.list, programs, report)) {
    obeyed.push_back(std::move(line));
  }
  AddSection(report, "Programs of this host run or obey:", obeyed);
  AddSection(report, "Links that may lead out of the project:", links);
  AddSection(report, "Names that a file system may take for another:", others);
  AddSection(report, "Names with characters that are not seen:", hidden);
  AddSection(report, "Submodules:", repositories);
  AddSection(report, "New executables:", executables);
  if (changes.is_cut) report.lines.emplace_back("There is more than can be examined.");
  return report;
}

}  // namespace copy
