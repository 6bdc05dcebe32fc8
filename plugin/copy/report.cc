#include "copy/report.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "support/errors.h"
#include "support/paths.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr std::size_t kMaxTarget = 4096;

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
    for (const Change& change : list) {
      if (change.mode == kLink) ids += change.id + "\n";
    }
    if (ids.empty()) return;
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
    if (!settings[i].starts_with("file:") || RowOfKey(key, programs) == nullptr) continue;
    const bool is_include = key.starts_with("include");
    const fs::path base =
        is_include ? (project / fs::path(settings[i].substr(5))).parent_path() : fs::path(project);
    const bool is_hooks = key == "core.hookspath";
    for (const std::string& path : NamedPaths(key, value, base)) {
      const auto below = support::PathBelow(path, project);
      if (!below || (below->empty() && !is_hooks)) continue;
      std::string pattern = Folded(*below);
      for (char& c : pattern) c = std::string_view(" \n*?[\\").find(c) < 6 ? '?' : c;
      if (pattern.empty() && !is_hooks) continue;  // such as ":"
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

}  // namespace

Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch) {
  const Changes changes(side.git(), from, side.facts().work);
  const auto configured = ListConfigured(users, programs, side.facts().project, branch);
  paths::HostPrograms obeyed = programs;
  for (const ConfiguredRow& row : configured) {
    obeyed.Add({row.pattern, paths::RunBy::kLooking, "git", row.reason});
  }
  return ReportOn(changes.list, obeyed, changes.is_cut);
}

}  // namespace copy
