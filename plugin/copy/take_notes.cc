// SPDX-License-Identifier: Apache-2.0
#include "copy/take_notes.h"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "exposure/names.h"
#include "support/words.h"

namespace copy {
namespace {

using Paths = std::vector<std::string>;

/// The output of git, or as much as there is.
std::string Read(const Git& git, const Git::Arguments& arguments, const std::string& input,
                 exposure::Report& report) {
  git::GitOutput read = git.Run(arguments, input);
  if (!read.ok() || read.is_cut) report.Cut();
  return std::move(read.output);
}

/// The user's ignored files that stand where the change has new ones, whatever their case: git
/// overwrites them.
void AddOverwritten(const Git& users, const std::vector<exposure::Change>& changes,
                    exposure::Report& report) {
  std::set<std::string, std::less<>> added;
  for (const exposure::Change& change : changes) {
    const bool is_new = change.old_mode == git::kNoEntry && !change.has_only_look_alike();
    if (is_new && change.key.empty()) added.insert(support::LowerCase(change.path));
  }
  if (added.empty()) return;
  Paths overwritten;
  const std::string ignored =
      Read(users, {"ls-files", "-o", "-i", "--exclude-standard", "-z"}, "", report);
  for (const std::string& path : git::Split(ignored, '\0')) {
    const std::string file = support::LowerCase(path);
    const auto below = added.lower_bound(file + "/");
    bool is_in_the_way = below != added.end() && below->starts_with(file + "/");
    for (std::size_t end = file.size(); !is_in_the_way && end != std::string::npos && end > 0;
         end = file.rfind('/', end - 1)) {
      is_in_the_way = added.contains(std::string_view(file).substr(0, end));
    }
    if (is_in_the_way) overwritten.push_back(exposure::Visible(path));
  }
  report.AddSection("Ignored files of yours that git switch or merge would overwrite:",
                    overwritten);
}

/// Files of git LFS that come as what they are not in the repository.
void AddLargeFiles(const Git& git, const std::vector<exposure::Change>& changes,
                   exposure::Report& report) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  constexpr std::size_t kMaxPointer = 1024;  // as git-lfs itself has it
  std::string ids;
  for (const exposure::Change& change : changes) ids += change.id + "\n" + change.old_id + "\n";
  std::string small;
  const std::string sizes =
      Read(git, {"cat-file", "--batch-check=%(objectname) %(objectsize)"}, ids, report);
  for (const std::string& line : git::Split(sizes, '\n')) {
    const auto words = git::Split(line, ' ');
    const bool is_small = words.size() == 2 && words[1].size() <= 4 && words[1] != "missing" &&
                          std::stoull(words[1]) <= kMaxPointer;
    if (is_small) small += words[0] + "\n";
  }
  std::set<std::string> pointers;
  const std::string contents = Read(git, {"cat-file", "--batch"}, small, report);
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
  if (!branch.empty()) AddOverwritten(users, changes.list, report);
}

}  // namespace copy
