#include "copy/report.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
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

constexpr std::size_t kMaxTarget = 4096;

// What is beyond these is counted or cut.
constexpr std::size_t kMaxLines = 20;
constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kMaxName = 200;

// The modes of a tree's entries.
constexpr const char* kNone = "000000";
constexpr const char* kDirectory = "040000";
constexpr const char* kProgram = "100755";
constexpr const char* kLink = "120000";

/// For comparing paths as file systems may: those that one does not tell apart are the same.
std::string Folded(std::string_view path) {
  std::string folded;
  for (const std::string& name : Split(path, '/')) {
    folded += (folded.empty() ? "" : "/") + paths::FoldName(name);
  }
  return support::LowerCase(folded);
}

/// Sets `is_cut` if there is more than can be examined.
std::string Read(const Git& git, const Git::Arguments& arguments, bool& is_cut,
                 const std::string& input = "") {
  GitOutput read = git.Run(arguments, input);
  if (!read.ok()) throw support::CallError("git cannot list what was changed: " + read.words);
  is_cut = is_cut || read.is_cut;
  return std::move(read.output);
}

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

/// Links that may lead out, or are too long to be read.
Names ListLinks(const std::vector<RawChange>& changes, const Git& git, bool& is_cut) {
  std::vector<RawChange> links = changes;
  std::erase_if(links, [](const RawChange& change) { return change.mode != kLink; });
  std::string ids;
  for (const RawChange& link : links) ids += link.id + "\n";
  // "ID blob SIZE", line feed, target, line feed
  std::istringstream text(Read(git, {"cat-file", "--batch"}, is_cut, ids));
  Names lines;
  for (const RawChange& link : links) {
    std::string id;
    std::string type;
    std::size_t size = 0;
    text >> id >> type >> size;
    text.get();
    std::string target(std::min(size, kMaxTarget), '\0');
    text.read(target.data(), static_cast<std::streamsize>(target.size()));
    text.ignore(static_cast<std::streamsize>(size - target.size()));
    const bool is_read = text && size <= kMaxTarget;
    if (is_read && !LeadsOut(link.path, target)) continue;
    lines.push_back(Visible(link.path) + " -> " + Visible(is_read ? target : "(too long)"));
  }
  return lines;
}

/// New names, also of directories, that are another one of the tree when they are folded.
Names ListOthers(const std::vector<RawChange>& changes, const std::string& work, const Git& git,
                 bool& is_cut) {
  std::unordered_map<std::string, std::string> added;  // folded → name
  for (const RawChange& change : changes) {
    if (change.old_mode == kNone) added.try_emplace(Folded(change.path), change.path);
  }
  if (added.empty()) return {};
  Names lines;
  for (const std::string& name :
       Split(Read(git, {"ls-tree", "-r", "-t", "-z", "--name-only", work}, is_cut), '\0')) {
    const auto found = added.find(Folded(name));
    if (found == added.end() || found->second == name) continue;
    lines.push_back(Visible(found->second) + ": " + Visible(name));
  }
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

/// A row of the table, for a file that the user's git runs or reads since its configuration names
/// it.
struct ConfiguredRow {
  std::string pattern;
  std::string reason;
};

std::vector<ConfiguredRow> ListConfigured(const Git& users, const paths::HostPrograms& programs,
                                          const std::string& project, const std::string& branch) {
  std::vector<ConfiguredRow> rows;
  const Names settings =  // "file:PATH", NUL, key, line feed, value, NUL
      Split(users.Run({"config", "-z", "--list", "--includes", "--show-origin"}).output, '\0');
  for (std::size_t i = 0; i + 1 < settings.size(); i += 2) {
    const auto [key, value] = KeyAndValue(settings[i + 1]);
    if (!settings[i].starts_with("file:") || !IsCommand(key, programs)) continue;
    const bool is_include = key.starts_with("include");
    const fs::path base =
        is_include ? (project / fs::path(settings[i].substr(5))).parent_path() : fs::path(project);
    const bool is_hooks = key == "core.hookspath";
    for (const std::string& path : NamedPaths(key, value, base)) {
      const auto below = support::PathBelow(path, project);
      if (!below || (below->empty() && !is_hooks)) continue;
      std::string pattern = Folded(*below);
      for (char& c : pattern) c = std::string_view(" \n*?[\\").find(c) < 6 ? '?' : c;
      if (is_hooks) pattern = (pattern.empty() ? "*" : pattern) + "/";
      rows.push_back({"/" + pattern, "your " + Visible(key) + " names it"});
      if (!is_hooks) continue;
      rows.back().reason +=
          ", git switch and merge may run it. To switch without: git -c core.hooksPath=/dev/null "
          "switch " +
          Visible(branch);
    }
  }
  return rows;
}

/// One line for each row of the table, so that many files cannot hide another.
Names ListObeyed(const std::vector<RawChange>& changes, const paths::HostPrograms& programs,
                 std::size_t& protected_files) {
  using Key = std::pair<paths::RunBy, std::string>;  // and what is said
  std::map<Key, Names> rows;
  for (const RawChange& change : changes) {
    const bool is_deleted = change.mode == kNone;
    bool is_protected = false;
    std::optional<Key> worst;
    for (const paths::HostMatch& match : programs.Match(change.path)) {
      const paths::HostProgram& row = match.row;
      if (!row.keys.empty() || row.writing == paths::Writing::kRefusedBesideHead) continue;
      is_protected = is_protected || row.writing == paths::Writing::kRefused;
      if (worst && worst->first <= row.run_by) continue;
      worst = {row.run_by, std::string(row.program) + ": " + std::string(row.reason)};
    }
    // Without a file, a program does less, unless the file confined it.
    if (!worst || (is_deleted && !is_protected)) continue;
    protected_files += is_protected ? 1 : 0;
    rows[*worst].push_back(Visible(change.path) + (is_deleted ? " (deleted)" : ""));
  }
  Names lines;
  for (const auto& [key, names] : rows) lines.push_back(List(names) + ": " + key.second);
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
  const std::string& work = side.facts().work;
  bool is_cut = false;
  std::vector<RawChange> changes = ParseRaw(Read(
      side.git(), {"diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", from, work}, is_cut));
  const Names others = ListOthers(changes, work, side.git(), is_cut);
  std::erase_if(changes, [](const RawChange& change) {
    return change.mode == kDirectory || change.old_mode == kDirectory;
  });
  Names hidden;
  Names repositories;
  Names executables;
  for (const RawChange& change : changes) {
    const std::string name = Visible(change.path);
    if (Escaped(change.path) != change.path) hidden.push_back(name);
    if (change.mode == kRepositoryMode) repositories.push_back(name);
    if (change.mode == kProgram && change.old_mode != kProgram) executables.push_back(name);
  }
  const auto configured = ListConfigured(users, programs, side.facts().project, branch);
  paths::HostPrograms obeyed = programs;
  for (const ConfiguredRow& row : configured) {
    obeyed.Add({row.pattern, paths::RunBy::kLooking, "git", row.reason});
  }
  Report report;
  AddSection(report, "Programs of this host run or obey:",
             ListObeyed(changes, obeyed, report.protected_files));
  AddSection(report,
             "Links that may lead out of the project:", ListLinks(changes, side.git(), is_cut));
  AddSection(report, "Names that a file system may take for another:", others);
  AddSection(report, "Names with characters that are not seen:", hidden);
  AddSection(report, "Submodules:", repositories);
  AddSection(report, "New executables:", executables);
  if (is_cut) report.lines.emplace_back("There is more than can be examined.");
  return report;
}

}  // namespace copy
