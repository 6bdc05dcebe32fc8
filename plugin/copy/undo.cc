// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "copy/apply.h"
#include "copy/snapshot.h"
#include "support/errors.h"
#include "support/format.h"

namespace copy {
namespace {

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

std::size_t UndoApply(SideRepository& side, bool force) {
  const int number = NextNumber(side);
  const auto last = RawSnapshot::Find(side, number - 1);
  if (!last) throw Error("There is no take --apply to undo.");
  const FileLock lock = side.place().LockTree();
  const Replacement then = last->ReadReplacement();
  const Files wanted = last->files();
  const Files now = last->Look(PathsOf(wanted));

  Replacement next{.applied = side.facts().applied, .sent = side.facts().sent};
  std::size_t files = 0;
  std::vector<std::string> changed;
  for (const Replaced& each : then.files) {
    const File there = At(now, each.was.path);
    next.files.push_back({there, each.was});
    if (IsChanged(there, each)) changed.push_back(each.was.path);
    if (there != each.was && !there.IsDirectory() && !each.was.IsDirectory()) ++files;
  }
  if (!force && !changed.empty()) {
    throw Error(
        "Changed since, so nothing was put back: {}. To put back all the same, which can be "
        "reversed: limactl mcp take --undo {} --force",
        Named(changed), side.place().arguments);
  }

  RawSnapshot before = RawSnapshot::Take(side, PathsOf(wanted), side.MakeScratch());
  before.Publish(number);
  const std::vector<std::string> different = last->Put(wanted);
  if (!different.empty()) {
    const bool is_back = before.Put(before.files()).empty();
    if (is_back) before.Remove();
    throw Error("Cannot be put back: {}. {}", Named(different),
                is_back ? "The working tree is as it was." : "The next call tries again.");
  }
  before.Complete(next);
  FinishChange(side, number, then.sent == side.facts().sent ? then.applied : side.facts().applied);
  return files;
}

}  // namespace copy
