// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "copy/checkpoints.h"
#include "copy/copy.h"
#include "copy/lend.h"
#include "copy/programs.h"
#include "copy/rules.h"
#include "support/errors.h"
#include "support/files.h"

namespace copy {

using git::Excluding;
namespace {

namespace fs = std::filesystem;
using exposure::Notes;
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
/// check it.
void Replace(Copy& copy, const Project& project, const Snapshot& snapshot,
             const GuestState& state) {
  const SideRepository& side = copy.side();
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
  const GuestState prepared = CallGuest(copy, settings, kReplace + "prepare");
  // Then another one may be named.
  if (prepared.directory == "directory" && side.facts().sent.empty()) RemoveRecord(side.path());
  if (!prepared.directory.empty()) RequireOurs(copy.side(), prepared);
  const std::string temporary = side.facts().directory + "/.git/objects/pack/tmp_";
  SendFile(copy, pack, temporary + "pack");
  SendFile(copy, pack.replace_extension(".idx"), temporary + "idx");
  CallGuest(copy, settings, kReplace + "apply || fail_or_full apply");
}

}  // namespace

/// A kill or a lost connection may come after each step, and the next call must see how far this
/// one came. The facts are saved before the guest is changed, so that no copy is without a record.
/// While the guest is changed it has a file `$next` with the new commit, which makes it
/// "interrupted". That file goes only after the host has saved the commit as `sent`; if it is left
/// then, look() sees that both agree and deletes it. Work is looked for first and never
/// overwritten.
Notes Send(Copy& copy, const SendOptions& options) {
  SideRepository& side = copy.side();
  const Git users = copy.users();
  const Project project = ReadProject(copy.project(), users);
  side.Prepare(project);
  CopyFacts facts = side.facts();
  if (options.setup && *options.setup != facts.setup) {
    facts.setup = *options.setup;
    facts.setup_end.clear();
  }
  Notes notes;
  std::vector<std::string> behind = ChooseLent(project, users, options, facts, notes);
  if (!facts.sent.empty()) side.Save(facts);
  const Snapshot snapshot = TakeSnapshot(project, users, side, LentNames(facts));
  copy.Connect();
  DeleteOld(copy);
  const GuestState state = CommitGuestWork(copy, CommonCommits(side));
  const std::string place = side.place().instance + ":" + facts.directory;
  const std::string the_copy = Format("The copy in {}", place);
  const auto stay = [&](const std::string& text) {
    notes.Add(text);
    SendLent(copy, false, facts, notes);
    side.Save(facts);
    return notes;
  };
  const bool is_there = state.directory != "absent" && state.directory != "interrupted";
  if (is_there) {
    RequireOurs(copy.side(), state);
    // The rest stays in the copy when it is replaced.
    const bool would_lose =
        state.untaken.has_work() || state.untaken.IsUnfinished() ||
        std::any_of(state.untaken.refs.begin(), state.untaken.refs.end(),
                    [&](const auto& ref) { return ref.source == "refs/heads/" + project.branch; });
    if (would_lose) {
      if (state.untaken.IsUnfinished()) notes.Add(NotesOnRest(side, state.untaken));
      return stay(Format("{} stays as it is: {} not taken. limactl mcp take {}", the_copy,
                         state.untaken.Summary(), side.place().selector));
    }
    const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                            facts.base == project.head && facts.branch == project.branch &&
                            support::ReadText(RulesFile(side)) == snapshot.rules;
    if (is_current) return stay(Format("{} is up to date.", the_copy));
  }
  const std::optional<FileLock> use = side.place().TakeUse(LockKind::kExclusive);
  if (!use && !is_there) throw Error(side.place().InUseText());
  if (!use) return stay(Format("{} stays as it is: it is in use.", the_copy));

  if (!state.untaken.empty())
    notes.Add(Format("Not taken, and still in the copy: {}.", state.untaken.Summary()));
  const bool was_made = !facts.sent.empty();
  if (was_made && state.directory == "absent") {
    notes.Add("The copy was gone; it is made anew.");
  }
  if (!was_made) side.Save(facts);
  Replace(copy, project, snapshot, state);
  ForgetTracked(side, snapshot.commit, facts);
  Notes lent;
  SendLent(copy, true, facts, lent);
  if (!snapshot.rules.empty()) support::WriteText(RulesFile(side), snapshot.rules);
  side.Save({.project = facts.project,
             .directory = facts.directory,
             .branch = project.branch,
             .sent = snapshot.commit,
             .base = project.head,
             .applied = snapshot.commit,
             .replaced = facts.replaced,
             .setup = facts.setup,
             .name = facts.name,
             .lent = facts.lent});
  CallGuest(copy, {}, "rm -f \"$next\"");
  KeepAsSent(copy);
  notes.Add(snapshot.notes);
  behind.insert(behind.end(), snapshot.kept.begin(), snapshot.kept.end());
  notes.AddNote(
      Format("not sent, since git ignores them, or a file of rules such as .gitignore has changed "
             "since the last send (git add -f FILE sends one, limactl mcp copy {} --include FILE "
             "lends one):",
             side.place().selector),
      behind);
  notes.Add(is_there ? Format("{} starts again from here.", the_copy)
                     : Format("Copied to {}.", place));
  notes.Add(lent);
  (void)side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return notes;
}

}  // namespace copy
