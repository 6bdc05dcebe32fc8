// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "copy/copy.h"
#include "copy/guest_copy.h"
#include "copy/programs.h"
#include "copy/rules.h"
#include "support/errors.h"
#include "support/files.h"

namespace copy {

using git::Excluding;
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;

const std::string kReplace = std::string(checkpoint_program) + std::string(replace_program);

/// Written before `git init`, which keeps it.
std::string GuestConfiguration(const Project& project) {
  return Format("[gc]\nauto = 0\n[commit]\ngpgSign = false\n[user]\nname = {}\nemail = {}\n",
                Quoted(project.user_name), Quoted(project.user_email));
}

fs::path MakePack(const SideRepository& side, const Project& project,
                  const std::string& revisions) try {
  return side.MakePack(Git::Neutral(side.path(), side.lock(), Git::Limits::kNone), revisions);
} catch (const support::Error&) {
  if (project.is_partial) throw Error(kPartialText);
  throw;
}

/// Makes the copy equal to the snapshot. The pack comes with its index, so that the guest need not
/// check it. Returns GuestState::found.
std::string Replace(const Target& target, const Project& project, const Snapshot& snapshot,
                    const GuestState& state) {
  const SideRepository& side = target.side;
  fs::path pack = MakePack(side, project,
                           snapshot.commit + "\n" + project.head + "\n" + Excluding(state.known));
  const Settings settings = {{"STATE", state.directory},
                             {"NEW", snapshot.commit},
                             {"HEAD_ID", project.head},
                             {"BRANCH", project.branch},
                             {"FORMAT", project.format},
                             {"CONFIG", GuestConfiguration(project)},
                             {"SHALLOW", support::ReadText(side.path() / "shallow")},
                             {"EXCLUDES", project.excludes},
                             {"PACK", pack.stem()},
                             {"NEEDED", std::to_string(fs::file_size(pack))}};
  const GuestState prepared = CallGuest(target, settings, kReplace + "prepare");
  // Then another one may be named.
  if (prepared.directory == "directory" && side.facts().sent.empty()) target.side.Remove();
  if (!prepared.directory.empty()) RequireOurs(target, prepared);
  const std::string temporary = side.facts().directory + "/.git/objects/pack/tmp_";
  SendFile(target, pack, temporary + "pack");
  SendFile(target, pack.replace_extension(".idx"), temporary + "idx");
  return CallGuest(target, settings, kReplace + "apply || fail_or_full apply").found;
}

}  // namespace

/// A kill or a lost connection may come after each step, and the next call must see how far this
/// one came. The facts are saved before the guest is changed, so that no copy is without a record.
/// While the guest is changed it has a file `$next` with the new commit, which makes it
/// "interrupted". That file goes only after the host has saved the commit as `sent`; if it is left
/// then, look() sees that both agree and deletes it. Work is looked for first and never
/// overwritten.
std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot) {
  SideRepository& side = target.side;
  DeleteOld(target);
  const GuestState state = CommitGuestWork(target, CommonCommits(side));
  const CopyFacts facts = side.facts();
  const std::string place = side.place().instance + ":" + facts.directory;
  const std::string the_copy = Format("The copy in {}", place);
  const bool is_there = state.directory != "absent" && state.directory != "interrupted";
  if (is_there) {
    RequireOurs(target, state);
    // The rest stays in the copy when it is replaced.
    const bool would_lose =
        state.untaken.has_work() || state.untaken.IsUnfinished() ||
        std::any_of(state.untaken.refs.begin(), state.untaken.refs.end(),
                    [&](const auto& ref) { return ref.source == "refs/heads/" + project.branch; });
    if (would_lose) {
      std::vector<std::string> lines;
      if (state.untaken.IsUnfinished()) lines = RestLines(target, state.untaken);
      lines.push_back(Format("{} stays as it is: {} not taken. limactl mcp take {}", the_copy,
                             state.untaken.Summary(), side.place().instance));
      return lines;
    }
    const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                            facts.base == project.head && facts.branch == project.branch &&
                            support::ReadText(RulesFile(side)) == snapshot.rules;
    if (is_current) return {Format("{} is up to date.", the_copy)};
  }
  const std::optional<FileLock> use = side.place().TakeUse(LockKind::kExclusive);
  if (!use && !is_there) throw Error(side.place().InUseText());
  if (!use) return {Format("{} stays as it is: it is in use.", the_copy)};

  std::vector<std::string> lines;
  if (!state.untaken.empty())
    lines.push_back(Format("Not taken, and still in the copy: {}.", state.untaken.Summary()));
  const bool was_made = !facts.sent.empty();
  if (was_made && state.directory == "absent") {
    lines.emplace_back("The copy was gone; it is made anew.");
  }
  if (!was_made) side.Save(facts);
  const std::string found = Replace(target, project, snapshot, state);
  if (!found.empty()) {
    lines.push_back(
        Format("What was made in the copy since it was interrupted is on its branch {}: "
               "limactl mcp take {}",
               found, side.place().instance));
  }
  if (!snapshot.rules.empty()) support::WriteText(RulesFile(side), snapshot.rules);
  side.Save({.project = facts.project,
             .directory = facts.directory,
             .branch = project.branch,
             .sent = snapshot.commit,
             .base = project.head,
             .applied = snapshot.commit,
             .replaced = facts.replaced});
  CallGuest(target, {}, "rm -f \"$next\"");
  for (const auto& notes : {snapshot.notes, ListNotes(project, snapshot.git)}) {
    for (const std::string& note : notes) lines.push_back(Format("Note: {}.", note));
  }
  lines.push_back(is_there ? Format("{} starts again from here.", the_copy)
                           : Format("Copied to {}.", place));
  (void)side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return lines;
}

GuestState QueryUntaken(const Target& target) {
  GuestState state = CommitGuestWork(target, CommonCommits(target.side));
  RequireOurs(target, state);
  return state;
}

}  // namespace copy
