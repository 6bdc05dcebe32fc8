// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "copy/apply.h"
#include "copy/snapshot.h"
#include "support/errors.h"
#include "support/format.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;

/// Whether the user has changed the file since it became `each.is`, so that to put it back would
/// lose that. Directories come and go with their files.
bool IsChanged(const File& now, const Replaced& each) {
  if (now == each.is || now == each.was) return false;
  if (now.IsDirectory()) return !each.is.IsDirectory() && !each.was.IsDirectory();
  return now.mode != 0 || !each.is.IsDirectory();
}

bool WouldLose(const File& now, const File& wanted) {
  return now != wanted && now.mode != 0 && !now.IsDirectory();
}

}  // namespace

/// If files are there that it removes, a snapshot of them comes first, which `take --undo` brings
/// back. The next call continues this if it is killed, too.
std::string UndoInterruptedApply(SideRepository& side) {
  const int number = NextNumber(side);
  const auto interrupted = RawSnapshot::Find(side, number);
  if (!interrupted) return "";
  const FileLock lock = side.place().LockTree();
  const Files& wanted = interrupted->files();
  auto rescue = RawSnapshot::Find(side, number + 1);
  const Files now = interrupted->Look(PathsOf(wanted));
  const bool would_lose = std::any_of(wanted.begin(), wanted.end(), [&](const File& file) {
    return WouldLose(At(now, file.path), file);
  });
  if (!rescue && would_lose) {
    rescue = RawSnapshot::Take(side, PathsOf(wanted), side.MakeScratch());
    rescue->Publish(number + 1);
  }
  const std::vector<std::string> different = interrupted->Put(wanted);
  if (!different.empty()) {
    throw Error(
        "An interrupted take --apply cannot be undone: {}. Once they can be written, try again",
        Named(different));
  }
  if (!rescue) {
    interrupted->Remove();
    return "An interrupted take --apply was undone.";
  }
  Replacement replacement{.applied = side.facts().applied, .sent = side.facts().sent};
  for (const File& was : rescue->files()) {
    replacement.files.push_back({was, At(wanted, was.path)});
  }
  rescue->Complete(replacement);
  FinishChange(side, number + 1, side.facts().applied);
  return Format(
      "An interrupted take --apply was undone. To bring back what was there: "
      "limactl mcp take --undo {}",
      side.place().arguments);
}

Undone UndoApply(SideRepository& side, bool force) {
  const int number = NextNumber(side);
  const auto last = RawSnapshot::Find(side, number - 1);
  if (!last) throw Error("There is no take --apply to undo.");
  const FileLock lock = side.place().LockTree();
  const Replacement then = last->ReadReplacement();
  const auto is_left = [](const Replaced& each) { return each.is_left; };
  const bool only_left = force && std::any_of(then.files.begin(), then.files.end(), is_left);
  std::vector<std::string> paths;
  for (const Replaced& each : then.files) paths.push_back(each.was.path);
  const Files now = last->Look(paths);

  // Also the directories that they are in.
  std::set<std::string> changed;
  for (const Replaced& each : then.files) {
    if (force || !IsChanged(At(now, each.was.path), each)) continue;
    for (fs::path part = each.was.path; !part.empty(); part = part.parent_path()) {
      changed.insert(part.string());
    }
  }

  Replacement next{.applied = side.facts().applied, .sent = side.facts().sent};
  Undone undone;
  Files wanted;
  for (const Replaced& each : then.files) {
    const File there = At(now, each.was.path);
    const bool is_changed = changed.contains(each.was.path);
    const bool stays = is_changed || (only_left && !each.is_left);
    next.files.push_back({stays ? each.was : there, stays ? each.is : each.was, is_changed});
    const bool is_directory = there.IsDirectory() && (each.was.IsDirectory() || each.was.mode == 0);
    if (is_changed && !is_directory) undone.left.push_back(each.was.path);
    if (stays) continue;
    wanted.push_back(each.was);
    if (there != each.was && !there.IsDirectory() && !each.was.IsDirectory()) ++undone.files;
  }
  if (undone.files == 0 && !undone.left.empty()) return undone;

  RawSnapshot before = RawSnapshot::Take(side, PathsOf(wanted), side.MakeScratch());
  before.Publish(number);
  const std::vector<std::string> different = last->Put(wanted);
  if (!different.empty()) {
    const bool is_back = before.Put(before.files()).empty();
    if (is_back) before.Remove();
    throw Error("Cannot be put back: {}. {}", Named(different),
                is_back ? "The working tree is as it was." : "The next call tries again.");
  }
  if (only_left) next.applied = then.applied;
  before.Complete(next, wanted.size() < next.files.size() ? &*last : nullptr);
  const bool is_same_copy = then.sent == side.facts().sent && !only_left;
  FinishChange(side, number, is_same_copy ? then.applied : side.facts().applied);
  return undone;
}

}  // namespace copy
