// SPDX-License-Identifier: Apache-2.0
#include "copy/take_notes.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "paths/names.h"
#include "support/words.h"

namespace copy {
namespace {

using Paths = std::vector<std::string>;

/// The user's ignored files that stand where the change has new ones, whatever their case: git
/// overwrites them.
void AddOverwritten(const Git& users, const std::vector<exposure::Change>& changes,
                    exposure::Report& report) {
  std::set<std::string, std::less<>> added;
  for (const exposure::Change& change : changes) {
    if (change.old_mode == git::kNoEntry) added.insert(support::LowerCase(change.path));
  }
  if (added.empty()) return;
  Paths overwritten;
  const git::GitOutput ignored = users.Run({"ls-files", "-o", "-i", "--exclude-standard", "-z"});
  if (!ignored.ok() || ignored.is_cut) report.Cut();
  for (const std::string& path : git::Split(ignored.output, '\0')) {
    const std::string file = support::LowerCase(path);
    const auto below = added.lower_bound(file + "/");
    bool is_in_the_way = below != added.end() && below->starts_with(file + "/");
    for (std::size_t end = file.size(); !is_in_the_way && end != std::string::npos && end > 0;
         end = file.rfind('/', end - 1)) {
      is_in_the_way = added.contains(std::string_view(file).substr(0, end));
    }
    if (is_in_the_way) overwritten.push_back(paths::Visible(path));
  }
  report.AddSection("Ignored files of yours that git switch or merge would overwrite:",
                    overwritten);
}

/// Files of git LFS that come as what they are not in the repository.
void AddLargeFiles(const exposure::CommitChanges& changes, exposure::Report& report) {
  const auto is_pointer = [&](const std::string& id) {
    const auto found = changes.small.find(id);
    return found != changes.small.end() &&
           found->second.starts_with("version https://git-lfs.github.com/spec/");
  };
  Paths only_pointers;
  Paths plain;
  for (const exposure::Change& change : changes.list) {
    const bool was = is_pointer(change.old_id);
    const bool is = is_pointer(change.id);
    if (is) only_pointers.push_back(paths::Visible(change.path));
    if (was && !is && !change.is_deleted()) plain.push_back(paths::Visible(change.path));
  }
  report.AddSection("Files of git LFS of which only the pointer comes:", only_pointers);
  report.AddSection("Files of git LFS that come as plain files:", plain);
}

}  // namespace

void AddTakeNotes(const Git& users, const exposure::CommitChanges& changes,
                  const std::string& branch, exposure::Report& report) {
  AddLargeFiles(changes, report);
  if (!branch.empty()) AddOverwritten(users, changes.list, report);
}

}  // namespace copy
