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

/// Whether the user has changed the file since it became `is`, so that to put it back would
/// lose that. Directories come and go with their files.
bool IsChanged(const File& now, const File& was, const File& is) {
  if (now == is || now == was) return false;
  if (now.IsDirectory()) return !is.IsDirectory() && !was.IsDirectory();
  return now.mode != 0 || !is.IsDirectory();
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
  rescue->Complete(wanted);
  FinishChange(side, number + 1, side.facts().applied);
  return Format(
      "An interrupted take --apply was undone. To bring back what was there: "
      "limactl mcp take --undo {}",
      side.place().arguments);
}

std::size_t UndoApply(SideRepository& side, bool force) {
  const int number = NextNumber(side);
  auto last = RawSnapshot::Find(side, number - 1);
  if (!last) throw Error("There is no take --apply to undo.");
  const FileLock lock = side.place().LockTree();
  const Files& wanted = last->files();
  const Files became = last->ReadChanged();
  const Files now = last->Look(PathsOf(wanted));
  std::size_t files = 0;
  std::vector<std::string> changed;
  for (const File& was : wanted) {
    const File there = At(now, was.path);
    if (IsChanged(there, was, At(became, was.path))) changed.push_back(was.path);
    if (there != was && !there.IsDirectory() && !was.IsDirectory()) ++files;
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
  before.Complete(wanted);
  const bool is_same_copy = last->sent() == side.facts().sent;
  FinishChange(side, number, is_same_copy ? last->applied() : side.facts().applied);
  return files;
}

}  // namespace copy
