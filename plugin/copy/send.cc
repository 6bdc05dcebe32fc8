#include <csignal>
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

/// What to do with a copy that is there.
SendEnd Decide(const Target& target, const Project& project, const Snapshot& snapshot,
               const GuestState& state) {
  const CopyFacts& facts = target.side.facts();
  if (!facts.IsTaken(state.work) || state.lost > 0) return SendEnd::kContinued;
  const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                          facts.base == project.head && facts.branch == project.branch;
  return is_current ? SendEnd::kUnchanged : SendEnd::kReplaced;
}

void SendPack(GuestPipe& pipe, const SideRepository& side, const Project& project,
              const Snapshot& snapshot, const std::vector<std::string>& known) {
  const support::FileDescriptor input =
      TextFile(snapshot.commit + "\n" + project.head + "\n" + Excluding(side.git(), known));
  pipe.BeginPack("Sending", kMaxSize);
  GitChild pack = side.git().WithoutLimits().Start(
      {"pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q"},
      {.input = input.get(), .output = pipe.descriptor()});
  if (!pack.Finish() && pack.status() != 128 + SIGPIPE) {
    if (project.is_partial) throw CallError(kPartialText);
    throw CallError("git cannot pack " + project.top.string() + ": " + pack.Words());
  }
  pipe.EndPack();
}

/// Without `thin`, sends everything: the guest may lack what its ids need.
Sent Converse(const Target& target, const Project& project, const Snapshot& snapshot, bool thin) {
  SideRepository& side = target.side;
  std::ifstream file(side.path() / "shallow");
  const std::string shallow{std::istreambuf_iterator<char>(file), {}};
  GuestPipe pipe(target.guest, MakeProgram(target,
                                           {{"NEW", snapshot.commit},
                                            {"HEAD_ID", project.head},
                                            {"BRANCH", project.branch},
                                            {"FORMAT", project.format},
                                            {"NAME", project.user_name},
                                            {"MAIL", project.user_email},
                                            {"SHALLOW", shallow}},
                                           {begin_program, work_program, send_program}));
  Sent sent;
  sent.before = ReadState(pipe, target);
  const std::string& state = sent.before.directory;
  if (state != "absent" && state != "interrupted") {
    RequireOurs(sent.before, target);
    sent.end = Decide(target, project, snapshot, sent.before);
    if (sent.end != SendEnd::kReplaced) return sent;
  }
  const std::optional<FileLock> use = side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use) {
    sent.end = SendEnd::kContinued;
    if (state == "ours") return sent;
    throw CallError("An agent works in this copy; end it first.");
  }
  CopyFacts facts = {project.format, target.project, target.directory, project.branch};
  if (side.facts().directory.empty()) side.Save(facts);
  pipe.Answer("send");
  pipe.NextReport();  // "ready"
  SendPack(pipe, side, project, snapshot, thin ? sent.before.known : std::vector<std::string>());
  pipe.NextReport();  // "applied"
  facts.sent = snapshot.commit;
  facts.base = project.head;
  side.Save(facts);
  pipe.Answer("applied");
  pipe.NextReport();  // "end"
  return sent;
}

}  // namespace

Sent Send(const Target& target, const Project& project, const Snapshot& snapshot) {
  Sent sent;
  try {
    try {
      sent = Converse(target, project, snapshot, true);
    } catch (const GuestPipe::Failure& failure) {
      if (failure.reason() != "pack") throw;
      sent = Converse(target, project, snapshot, false);
    }
  } catch (const GuestPipe::Failure& failure) {
    Refuse(failure.reason(), failure.what(), target);
  }
  (void)target.side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return sent;
}

void Drop(const Target& target, bool force) {
  const auto use = target.side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use) throw CallError("An agent works in this copy; end it first.");
  GuestPipe pipe(target.guest, MakeProgram(target, {{"FORCE", force ? "1" : ""}},
                                           {begin_program, work_program, drop_program}));
  const GuestState state = ReadState(pipe, target);
  if (state.directory != "absent") {
    const bool has_nothing = state.directory == "interrupted" && target.side.facts().sent.empty();
    if (state.directory == "foreign" || (!force && !has_nothing)) RequireOurs(state, target);
    if (!force && !has_nothing && !(target.side.facts().IsTaken(state.work) && state.others == 0)) {
      throw CallError(state.Summary() + " were not taken: take, or --force.");
    }
    pipe.Answer("drop");
    try {
      pipe.NextReport();  // "end"
    } catch (const GuestPipe::Failure& failure) {
      Refuse(failure.reason(), failure.what(), target);
    }
  }
  target.side.Remove();
}

}  // namespace copy
