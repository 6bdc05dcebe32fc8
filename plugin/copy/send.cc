#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "copy/copy.h"
#include "copy/programs.h"
#include "support/errors.h"

namespace copy {
namespace {

using support::CallError;

/// Whether what the guest has is what would be sent.
bool IsCurrent(const Target& target, const Project& project, const Snapshot& snapshot,
               const std::string& work) {
  const SideRepository& side = target.side;
  return work == snapshot.commit && side.Ref("sent") == snapshot.commit &&
         side.Ref("base") == project.head && side.facts()->branch == project.branch;
}

void SendPack(GuestScript& script, const SideRepository& side, const Project& project,
              const Snapshot& snapshot, const std::vector<std::string>& known) {
  std::string revisions = snapshot.commit + "\n" + project.head + "\n";
  for (const std::string& id : known) revisions += "^" + id + "\n";
  const support::FileDescriptor input = TextFile(revisions);
  GitChild pack = side.git().WithoutLimits().Start(
      {"pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q"},
      {.input = input.get()});
  Progress progress("Sending");
  pack.Read([&](std::string_view bytes) { script.SendPack(bytes, progress); });
  if (pack.Finish()) return;
  if (project.is_partial) {
    throw CallError(
        "This is a partial clone without some files of HEAD: git sparse-checkout disable");
  }
  throw CallError("git cannot pack " + project.top.string() + ": " + pack.Words());
}

/// Without `thin`, sends everything: the guest may lack what its ids need.
Sent Converse(const Target& target, const Project& project, const Snapshot& snapshot, bool thin) {
  SideRepository& side = target.side;
  std::ifstream file(side.path() / "shallow");
  const std::string shallow{std::istreambuf_iterator<char>(file), {}};
  GuestScript script(target.guest, MakeProgram(target,
                                               {{"NEW", snapshot.commit},
                                                {"HEAD_ID", project.head},
                                                {"BRANCH", project.branch},
                                                {"FORMAT", project.format},
                                                {"NAME", project.user_name},
                                                {"MAIL", project.user_email},
                                                {"SHALLOW", shallow}},
                                               {begin_program, work_program, send_program}));
  const GuestState state = ReadState(script, target);
  Sent sent;
  sent.work = state.work;
  if (state.directory == DirectoryState::kOurs) {
    RequireOurs(state, target);
    sent.end = SendEnd::kReplaced;
    if (IsCurrent(target, project, snapshot, state.work.id)) sent.end = SendEnd::kUnchanged;
    if (!side.IsTaken(state.work.id) || state.work.lost > 0) sent.end = SendEnd::kContinued;
    if (sent.end != SendEnd::kReplaced) return sent;
  } else if (state.directory == DirectoryState::kAbsent) {
    sent.was_gone = !side.Ref("sent").empty();
  } else if (state.directory != DirectoryState::kInterrupted) {
    RequireOurs(state, target);
  }
  const std::optional<FileLock> use = side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use && sent.end == SendEnd::kReplaced) {
    sent.end = SendEnd::kContinued;
    return sent;
  }
  if (!use) throw CallError("An agent works in this copy; end it first.");

  const CopyFacts facts = {project.format, target.project, target.directory, project.branch};
  if (!side.facts()) side.WriteFacts(facts);
  script.Answer("send");
  script.NextReport();  // "ready"
  SendPack(script, side, project, snapshot, thin ? state.known : std::vector<std::string>());
  script.NextReport();  // "applied"
  side.WriteFacts(facts);
  side.SetRefs({{"sent", snapshot.commit},
                {"base", project.head},
                {"work", ""},
                {"taken", ""},
                {"applied", ""}});
  script.Answer("applied");
  script.NextReport();  // "end"
  return sent;
}

}  // namespace

Sent Send(const Target& target, const Project& project, const Snapshot& snapshot) {
  Sent sent;
  try {
    try {
      sent = Converse(target, project, snapshot, true);
    } catch (const GuestScript::Failure& failure) {
      if (failure.reason() != "pack") throw;
      sent = Converse(target, project, snapshot, false);
    }
  } catch (const GuestScript::Failure& failure) {
    ThrowFailure(failure, target);
  }
  (void)target.side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return sent;
}

}  // namespace copy
