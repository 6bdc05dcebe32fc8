// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "copy/copy.h"
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
void RequireTaken(Copy& copy, const Untaken& untaken, const std::string& what_to_do) {
  if (untaken.empty()) return;
  NotesOnRest(copy.side(), untaken).Print(std::cerr);
  const bool can_take = untaken.has_work() || !untaken.refs.empty();
  const std::string& arguments = copy.side().place().arguments;
  throw Error("Not taken: {}. {}{}", untaken.Summary(),
              can_take ? Format("To take: `limactl mcp take {}`. ", arguments) : "", what_to_do);
}

/// In the guest first: if this is killed, the guest has one that the host does not know.
void PutAside(Copy& copy) {
  const SetAside aside = NewSetAside(copy.side().place(), copy.side().facts());
  CallGuest(copy, {{"NAME", aside.name}}, kPrograms + "set_aside");
  copy.side().MoveTo(aside.repository);
}

/// A killed `drop` has set the copy aside, but the host has not noted it.
void NoteAside(Copy& copy, const std::string& name) {
  SetAside aside = NewSetAside(copy.side().place(), copy.side().facts());
  const std::string time = name.substr(name.rfind('-') + 1);
  aside.repository.replace_filename(copy.side().place().id + "-" + time + ".git");
  copy.side().MoveTo(aside.repository);
}

void Delete(Copy& copy, const SetAside& aside) {
  CallGuest(copy, {{"NAME", aside.name}}, kPrograms + "delete \"$aside/$NAME\"");
  RemoveRecord(aside.repository);
}

/// Whether it is set aside now.
bool DropCopy(Copy& copy, bool force, bool purge) {
  const GuestState state =
      CommitGuestWork(copy, CommonCommits(copy.side()), {{"ONLY_STATE", force ? "1" : ""}});
  if (state.directory == "dropped") {
    NoteAside(copy, state.aside.at(0));
    return true;
  }
  const bool is_gone = state.directory == "absent";
  if (!force && !is_gone) RequireOurs(copy.side(), state);
  RequireTaken(copy, state.untaken,
               Format("To drop it all the same: `limactl mcp drop {}{} --force`",
                      copy.side().place().arguments, purge ? " --purge" : ""));
  const bool is_copy = state.IsMarked();
  if (is_copy && !purge) {
    PutAside(copy);
    return true;
  }
  if (is_copy) {
    CallGuest(copy, {}, kPrograms + "delete \"$G\"");
  } else if (!is_gone) {
    std::cerr << Format("{} in {} is not the copy, and stays.\n", copy.side().facts().directory,
                        copy.side().place().instance);
  }
  RemoveRecord(copy.side().path());
  return false;
}

/// Whether it is back.
bool PutBack(Copy& copy, const SetAside& aside) {
  const GuestState state =
      CallGuest(copy, {{"G", aside.facts.directory}, {"NAME", aside.name}}, kPrograms + "put_back");
  if (state.directory == "occupied") {
    throw Error("{} exists in {}: move it away, then again.", aside.facts.directory,
                copy.side().place().instance);
  }
  if (state.directory != "ours") return false;
  copy.side().MoveFrom(aside.repository);
  return true;
}

[[noreturn]] void ThrowNothingAside(const SidePlace& place) {
  throw Error("Nothing of {} is set aside in {}.", place.project, place.instance);
}

}  // namespace

void DeleteOld(Copy& copy) try {
  for (const SetAside& aside : ListSetAside(copy.side().place().instance_directory)) {
    if (aside.IsOld()) Delete(copy, aside);
  }
} catch (const support::Error& error) {
  support::LogWarning(
      Format("What was set aside {} days ago cannot be deleted: {}", kKept.count(), error.what()));
}

std::string Drop(Copy& copy, bool force) {
  copy.Connect();
  const FileLock use = TakeWholeUse(copy.side().place());
  DeleteOld(copy);
  if (!DropCopy(copy, force, false)) return "Dropped.";
  return Format("Dropped. To bring it back: limactl mcp drop {} --undo",
                copy.side().place().arguments);
}

std::string Purge(Copy& copy, bool force) {
  copy.Connect();
  const SidePlace& place = copy.side().place();
  const FileLock use = TakeWholeUse(place);
  const bool has_copy = place.ReadFacts().has_value();
  if (has_copy) DropCopy(copy, force, true);
  const auto all = ListSetAside(place.instance_directory, &place);
  for (const SetAside& aside : all) {
    if (force) Delete(copy, aside);
  }
  if (force || all.empty()) return "Deleted.";
  const std::string text = Format(
      "What is set aside stays, since it may have work that was not taken: `limactl mcp drop {} "
      "--undo` brings it back, --purge --force deletes it",
      place.arguments);
  if (!has_copy) throw Error(text);
  return "Deleted. " + text;
}

std::string UndoDrop(Copy& copy) {
  copy.Connect();
  const SidePlace& place = copy.side().place();
  const FileLock use = TakeWholeUse(place);
  std::string more;
  auto all = ListSetAside(place.instance_directory, &place);
  if (place.ReadFacts()) {
    const GuestState state = CommitGuestWork(copy, {}, {{"ONLY_STATE", "1"}});
    if (state.directory == "dropped") {
      NoteAside(copy, state.aside.at(0));
      all = ListSetAside(place.instance_directory, &place);
    } else if (all.empty()) {
      ThrowNothingAside(place);
    } else if (state.directory == "absent") {
      RemoveRecord(place.repository);
    } else if (state.IsMarked()) {
      PutAside(copy);
      more = " The one that was there is set aside: the same command swaps them.";
    } else {
      RequireOurs(copy.side(), state);
    }
  }
  // A killed one may have put a copy back before the host has noted it.
  const auto names = CallGuest(copy, {}, kPrograms + "list_aside").aside;
  std::stable_partition(all.begin(), all.end(), [&](const SetAside& aside) {
    return std::find(names.begin(), names.end(), aside.name) == names.end();
  });
  for (const SetAside& aside : all) {
    if (!PutBack(copy, aside)) continue;
    return Format("The copy is back in {}:{}.{}", place.instance, aside.facts.directory, more);
  }
  ThrowNothingAside(place);
}

}  // namespace copy
