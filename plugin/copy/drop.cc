#include "copy/copy.h"
#include "copy/programs.h"
#include "support/errors.h"

namespace copy {
namespace {

using support::CallError;

void RequireDroppable(const GuestState& state, const Target& target, bool force) {
  const bool was_sent = !target.side.Ref("sent").empty();
  if (state.directory == DirectoryState::kForeign) RequireOurs(state, target);
  if (force || (state.directory == DirectoryState::kInterrupted && !was_sent)) return;
  RequireOurs(state, target);
  if (target.side.IsTaken(state.work.id) && state.work.others == 0) return;
  const std::string summary = state.work.Summary();
  throw CallError((summary.empty() ? "Changes" : summary) + " were not taken: take, or --force.");
}

}  // namespace

void Drop(const Target& target, bool force) {
  const auto use = target.side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use) throw CallError("An agent works in this copy; end it first.");
  GuestScript script(target.guest, MakeProgram(target, {{"FORCE", force ? "1" : ""}},
                                               {begin_program, work_program, drop_program}));
  const GuestState state = ReadState(script, target);
  if (state.directory != DirectoryState::kAbsent) {
    RequireDroppable(state, target, force);
    script.Answer("drop");
    try {
      script.NextReport();  // "end"
    } catch (const GuestScript::Failure& failure) {
      throw CallError(target.directory + " cannot be deleted in " + target.instance + ": " +
                      failure.detail());
    }
  }
  target.side.Remove();
}

}  // namespace copy
