#include "copy/report.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "copy/changes.h"
#include "support/environment.h"
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
constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kMaxName = 200;

constexpr std::string_view kClasses = "AQGBPX";  // the most dangerous first

bool IsIgnored(std::string_view character) {
  return character.size() > 1 && paths::FoldName(character).empty();
}

/// Printable, and with code points that are not seen as \xHH.
std::string Escaped(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const auto length = std::max<std::size_t>(1, support::FirstCharacterLength(name));
    const std::string_view character = name.substr(0, length);
    if (IsIgnored(character)) {
      for (const char byte : character) text += support::Printable(std::string_view(&byte, 1));
    } else {
      text += support::Printable(character);
    }
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
    const bool is_deleted = change.kind == Change::Kind::kDeleted;
    if (!worst || (is_deleted && !is_protected)) continue;
    report.protected_files += is_protected ? 1 : 0;
    rows[*worst].push_back(Visible(change.path) + (is_deleted ? " (deleted)" : ""));
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
        if (change.kind == Change::Kind::kDeleted) continue;
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

Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch) {
  using enum Change::Kind;
  const Changes changes = ReadChanges(side.git(), from, side.facts().work);
  Names links;
  Names others;
  Names hidden;
  Names repositories;
  Names executables;
  for (const Change& change : changes.list) {
    const std::string name = Visible(change.path);
    if (change.kind == kLink && (!change.target || LeadsOut(change.path, *change.target))) {
      links.push_back(name + " -> " + Visible(change.target.value_or("(too long)")));
    }
    if (!change.other.empty()) others.push_back(name + ": " + Visible(change.other));
    if (Escaped(change.path) != change.path) hidden.push_back(name);
    if (change.kind == kRepository) repositories.push_back(name);
    if (change.kind == kProgram && !change.was_program) executables.push_back(name);
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
