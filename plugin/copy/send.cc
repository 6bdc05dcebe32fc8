#include <filesystem>
#include <optional>

#include "copy/copy.h"
#include "copy/guest_copy.h"
#include "copy/programs.h"
#include "support/errors.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::CallError;

const std::string kReplace(replace_program);
constexpr const char* kInUse = "An agent works in this copy; end it first.";

/// What `git init` leaves as it is.
std::string GuestConfiguration(const Project& project) {
  return "[gc]\nauto = 0\n[commit]\ngpgSign = false\n[user]\nname = " + Quoted(project.user_name) +
         "\nemail = " + Quoted(project.user_email) + "\n";
}

fs::path MakePack(const SideRepository& side, const Project& project,
                  const std::string& revisions) try {
  return side.MakePack(Git::Neutral(side.path(), side.lock(), Git::Limits::kNone), revisions);
} catch (const CallError&) {
  if (project.is_partial) throw CallError(kPartialText);
  throw;
}

/// Makes the copy what the snapshot is. The pack comes with its index, so that the guest need not
/// check it.
void Replace(const Target& target, const Project& project, const Snapshot& snapshot,
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
                             {"SHALLOW", ReadText(side.path() / "shallow")},
                             {"PACK", pack.stem()},
                             {"NEEDED", std::to_string(fs::file_size(pack))}};
  CallGuest(target, settings, kReplace + "prepare");
  const std::string temporary = side.facts().directory + "/.git/objects/pack/tmp_";
  SendFile(target, pack, temporary + "pack");
  SendFile(target, pack.replace_extension(".idx"), temporary + "idx");
  CallGuest(target, settings, kReplace + "apply || fail_or_full apply");
}

}  // namespace

std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot, const Git& users) {
  SideRepository& side = target.side;
  const GuestState state = Look(target, CommonCommits(side), {{"BRANCH", project.branch}});
  const CopyFacts facts = side.facts();
  const std::string place = side.place().instance + ":" + facts.directory;
  const std::string the_copy = "The copy in " + place;
  const bool is_there = state.directory != "absent" && state.directory != "interrupted";
  if (is_there) {
    RequireOurs(target, state);
    if (!facts.IsTaken(state.work) || state.lost > 0) {
      return {the_copy + " stays as it is: " + state.Summary() + " not taken. limactl mcp take " +
              side.place().instance};
    }
    const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                            facts.base == project.head && facts.branch == project.branch;
    if (is_current) return {the_copy + " is up to date."};
  }
  const std::optional<FileLock> use = side.place().TakeUse(LockKind::kExclusive);
  if (!use && !is_there) throw CallError(kInUse);
  if (!use) return {the_copy + " stays as it is: it is in use."};

  std::vector<std::string> lines;
  const bool was_made = !facts.sent.empty();
  if (was_made && state.directory == "absent") {
    lines.emplace_back("The copy was gone; it is made anew.");
  }
  if (!was_made) side.Save(facts);
  Replace(target, project, snapshot, state);
  side.Save({.project = facts.project,
             .directory = facts.directory,
             .branch = project.branch,
             .sent = snapshot.commit,
             .base = project.head,
             .applied = snapshot.commit});
  CallGuest(target, {}, "rm -f \"$next\"");
  for (const auto& notes : {snapshot.notes, ListNotes(project, users)}) {
    for (const std::string& note : notes) lines.push_back("Note: " + note + ".");
  }
  lines.push_back(is_there ? the_copy + " starts again from here." : "Copied to " + place + ".");
  (void)side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return lines;
}

GuestState Ask(const Target& target) {
  GuestState state = Look(target, CommonCommits(target.side));
  RequireOurs(target, state);
  return state;
}

void Drop(const Target& target, bool force) {
  const auto use = target.side.place().TakeUse(LockKind::kExclusive);
  if (!use) throw CallError(kInUse);
  const CopyFacts& facts = target.side.facts();
  const GuestState state = Look(target, CommonCommits(target.side), {{"FORCE", force ? "1" : ""}});
  if (state.directory != "absent") {
    const bool keeps = !force && !(state.directory == "interrupted" && facts.sent.empty());
    if (state.directory == "foreign" || keeps) RequireOurs(target, state);
    if (keeps && (!facts.IsTaken(state.work) || state.others > 0)) {
      const bool is_one = state.commits + state.files + state.others == 1;
      throw CallError(state.Summary() + (is_one ? " was" : " were") +
                      " not taken: take, or --force.");
    }
    CallGuest(target, {}, kReplace + "drop");
  }
  target.side.Remove();
}

}  // namespace copy
