#include "copy/report.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "support/errors.h"
#include "support/paths.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// Of one git's output.
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxTarget = 4096;

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
    GitChild child = git_.Start(arguments, {.input = text.get()});
    std::string output;
    child.Read([&](std::string_view bytes) {
      output += bytes;
      return output.size() <= kMaxBytes;
    });
    is_cut = is_cut || output.size() > kMaxBytes;
    if (output.size() <= kMaxBytes && !child.Finish()) {
      throw support::CallError("git cannot list what was changed: " + child.Words());
    }
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
    if (!settings[i].starts_with("file:") || RowOfKey(key, programs) == nullptr) continue;
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

Report MakeReport(const SideRepository& side, const Git& users, const paths::HostPrograms& programs,
                  const std::string& from, const std::string& branch) {
  const Changes changes(side.git(), from, side.facts().work);
  return ReportOn(changes.list, programs,
                  ListConfigured(changes.list, users, programs, side.facts().project, branch),
                  changes.is_cut);
}

}  // namespace copy
