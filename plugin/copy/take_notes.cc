// SPDX-License-Identifier: Apache-2.0
#include "copy/take_notes.h"

#include <algorithm>
#include <set>

#include "copy/saved_files.h"
#include "exposure/names.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

/// The user's ignored files that stand where the change has new ones: git overwrites them.
Paths Overwritten(const Git& users, const fs::path& top,
                  const std::vector<exposure::Change>& changes) {
  std::string paths;
  for (const exposure::Change& change : changes) {
    if (change.old_mode != git::kNoEntry || change.has_only_look_alike() || !change.key.empty())
      continue;
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
  Paths names = git::Split(users.Run({"check-ignore", "-z", "--stdin"}, paths).output, '\0');
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (std::string& name : names) name = exposure::Visible(name);
  return names;
}

/// Files of git LFS that come as what they are not in the repository.
void AddLargeFiles(const Git& git, const std::vector<exposure::Change>& changes,
                   exposure::Report& report) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  constexpr std::size_t kMaxPointer = 1024;  // as git-lfs itself has it
  std::string ids;
  for (const exposure::Change& change : changes) ids += change.id + "\n" + change.old_id + "\n";
  std::string small;
  const git::GitOutput sizes =
      git.Run({"cat-file", "--batch-check=%(objectname) %(objectsize)"}, ids);
  for (const std::string& line : git::Split(sizes.output, '\n')) {
    const auto words = git::Split(line, ' ');
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
    const auto words = git::Split(std::string_view(contents).substr(line, at - 1 - line), ' ');
    if (words.size() == 3 && words[1] == "blob") pointers.insert(words[0]);
  }
  Paths only_pointers;
  Paths plain;
  for (const exposure::Change& change : changes) {
    if (!change.key.empty()) continue;
    const bool was = pointers.contains(change.old_id);
    const bool is = pointers.contains(change.id);
    if (is) only_pointers.push_back(exposure::Visible(change.path));
    if (was && !is && !change.is_deleted()) plain.push_back(exposure::Visible(change.path));
  }
  report.AddSection("Files of git LFS of which only the pointer comes:", only_pointers);
  report.AddSection("Files of git LFS that come as plain files:", plain);
}

}  // namespace

void AddTakeNotes(const SideRepository& side, const Git& users,
                  const exposure::CommitChanges& changes, const std::string& branch,
                  exposure::Report& report) {
  AddLargeFiles(side.git(), changes.list, report);
  if (branch.empty()) return;
  report.AddSection("Ignored files of yours that git switch or merge would overwrite:",
                    Overwritten(users, side.place().top, changes.list));
}

}  // namespace copy
