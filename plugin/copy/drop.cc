// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "copy/copy.h"
#include "copy/guest_copy.h"
#include "copy/programs.h"
#include "copy/set_aside.h"
#include "support/errors.h"
#include "support/log.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;

const std::string kPrograms(replace_program);

FileLock TakeWholeUse(const SidePlace& place) {
  auto use = place.TakeUse(LockKind::kExclusive);
  if (!use) throw Error(place.InUseText());
  return std::move(*use);
}

/// Prints how to get what `take` cannot bring.
void RequireTaken(const Target& target, const Untaken& untaken, const std::string& what_to_do) {
  if (untaken.empty()) return;
  for (const std::string& line : RestLines(target, untaken)) std::cerr << line << '\n';
  const bool can_take = untaken.has_work() || !untaken.refs.empty();
  const std::string& arguments = target.side.place().arguments;
  throw Error("Not taken: {}. {}{}", untaken.Summary(),
              can_take ? Format("To take: `limactl mcp take {}`. ", arguments) : "", what_to_do);
}

/// In the guest first: if this is killed, the guest has one that the host does not know.
void PutAside(const Target& target) {
  const SetAside aside = NewSetAside(target.side.place(), target.side.facts());
  CallGuest(target, {{"NAME", aside.name}}, kPrograms + "set_aside");
  target.side.MoveTo(aside.repository);
}

/// A killed `drop` has set the copy aside, but the host has not noted it.
void NoteAside(const Target& target, const std::string& name) {
  SetAside aside = NewSetAside(target.side.place(), target.side.facts());
  const std::string time = name.substr(name.rfind('-') + 1);
  aside.repository.replace_filename(target.side.place().id + "-" + time + ".git");
  target.side.MoveTo(aside.repository);
}

void Delete(const Target& target, const SetAside& aside) {
  CallGuest(target, {{"NAME", aside.name}}, kPrograms + "delete \"$aside/$NAME\"");
  RemoveRecord(aside.repository);
}

void RequireTakenBefore(const Target& target, const SetAside& aside) {
  SideRepository side(PlaceOf(target.side.place(), aside));
  const Target old{side, target.guest, target.context};
  const std::string what_to_do =
      Format("It is set aside: `limactl mcp drop {} --undo` brings it back, --force deletes it",
             side.place().arguments);
  const GuestState state = CommitGuestWork(old, CommonCommits(side));
  if (state.directory == "absent") return;
  if (state.directory != "ours")
    throw Error("{} is {}. {}", aside.name, state.directory, what_to_do);
  if (!state.untaken.empty()) throw Error("Not taken: {}. {}", state.untaken.Summary(), what_to_do);
}

/// Whether it is set aside now.
bool DropCopy(const Target& target, bool force, bool purge) {
  const GuestState state =
      CommitGuestWork(target, CommonCommits(target.side), {{"ONLY_STATE", force ? "1" : ""}});
  if (state.directory == "dropped") {
    NoteAside(target, state.aside.at(0));
    return true;
  }
  const bool is_gone = state.directory == "absent";
  if (!force && !is_gone) RequireOurs(target, state);
  RequireTaken(target, state.untaken,
               Format("To drop it all the same: `limactl mcp drop {}{} --force`",
                      target.side.place().arguments, purge ? " --purge" : ""));
  const bool is_copy = state.IsMarked();
  if (is_copy && !purge) {
    PutAside(target);
    return true;
  }
  if (is_copy) {
    CallGuest(target, {}, kPrograms + "delete \"$G\"");
  } else if (!is_gone) {
    std::cerr << Format("{} in {} is not the copy, and stays.\n", target.side.facts().directory,
                        target.side.place().instance);
  }
  target.side.Remove();
  return false;
}

/// Whether it is back.
bool PutBack(const Target& target, const SetAside& aside) {
  const GuestState state = CallGuest(target, {{"G", aside.facts.directory}, {"NAME", aside.name}},
                                     kPrograms + "put_back");
  if (state.directory == "occupied") {
    throw Error("{} exists in {}: move it away, then again.", aside.facts.directory,
                target.side.place().instance);
  }
  if (state.directory != "ours") return false;
  target.side.MoveFrom(aside.repository);
  return true;
}

[[noreturn]] void ThrowNothingAside(const SidePlace& place) {
  throw Error("Nothing of {} is set aside in {}.", place.project, place.instance);
}

}  // namespace

void DeleteOld(const Target& target) try {
  const SidePlace& place = target.side.place();
  for (const SetAside& aside : ListSetAside(place.instance_directory)) {
    if (!aside.IsOld()) continue;
    // This command has the lock of its own project.
    const SidePlace other(place.instance_directory, aside.facts.project);
    std::optional<FileLock> lock;
    if (other.id != place.id) {
      lock = LockFile(other.repository.string() + ".work", LockKind::kExclusive, {});
      if (!lock) continue;
    }
    Delete(target, aside);
  }
} catch (const support::Error& error) {
  support::LogWarning(
      Format("What was set aside {} days ago cannot be deleted: {}", kKept.count(), error.what()));
}

std::string Drop(const Target& target, bool force) {
  const FileLock use = TakeWholeUse(target.side.place());
  DeleteOld(target);
  if (!DropCopy(target, force, false)) return "Dropped.";
  return Format("Dropped. To bring it back: limactl mcp drop {} --undo",
                target.side.place().arguments);
}

std::string Purge(const Target& target, bool force) {
  const SidePlace& place = target.side.place();
  const FileLock use = TakeWholeUse(place);
  const auto all = ListSetAside(place.instance_directory, place.project);
  for (const SetAside& aside : all) {
    if (!force) RequireTakenBefore(target, aside);
  }
  if (place.ReadFacts()) DropCopy(target, force, true);
  for (const SetAside& aside : all) Delete(target, aside);
  return "Deleted.";
}

std::string UndoDrop(const Target& target) {
  const SidePlace& place = target.side.place();
  const FileLock use = TakeWholeUse(place);
  std::string more;
  auto all = ListSetAside(place.instance_directory, place.project);
  if (place.ReadFacts()) {
    const GuestState state = CommitGuestWork(target, {}, {{"ONLY_STATE", "1"}});
    if (state.directory == "dropped") {
      NoteAside(target, state.aside.at(0));
      all = ListSetAside(place.instance_directory, place.project);
    } else if (all.empty()) {
      ThrowNothingAside(place);
    } else if (state.directory == "absent") {
      target.side.Remove();
    } else if (state.IsMarked()) {
      PutAside(target);
      more = " The one that was there is set aside: the same command swaps them.";
    } else {
      RequireOurs(target, state);
    }
  }
  // A killed one may have put a copy back before the host has noted it.
  const auto names = CallGuest(target, {}, kPrograms + "list_aside").aside;
  std::stable_partition(all.begin(), all.end(), [&](const SetAside& aside) {
    return std::find(names.begin(), names.end(), aside.name) == names.end();
  });
  for (const SetAside& aside : all) {
    if (!PutBack(target, aside)) continue;
    return Format("The copy is back in {}:{}.{}", place.instance, aside.facts.directory, more);
  }
  ThrowNothingAside(place);
}

}  // namespace copy
