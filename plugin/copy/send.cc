#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "copy/copy.h"
#include "copy/programs.h"
#include "support/errors.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::CallError;

constexpr const char* kInUse = "An agent works in this copy; end it first.";

/// What to do with a copy that is there.
SendEnd Decide(const Target& target, const Project& project, const Snapshot& snapshot,
               const GuestState& state) {
  const CopyFacts& facts = target.side.facts();
  if (!facts.IsTaken(state.work) || state.lost > 0) return SendEnd::kContinued;
  const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                          facts.base == project.head && facts.branch == project.branch;
  return is_current ? SendEnd::kUnchanged : SendEnd::kReplaced;
}

/// Sends what `revisions` name, in lines. The pack comes with its index, so that the guest need not
/// check it.
void SendPack(Program& program, const SideRepository& side, const Project& project,
              const std::string& revisions) {
  const ScratchDirectory directory(side);
  const GitOutput made = side.git().WithoutLimits().Run(
      {"pack-objects", "--revs", "--delta-base-offset", "-q", directory.path() / "pack"},
      revisions);
  if (!made.ok() && project.is_partial) throw CallError(kPartialText);
  if (!made.ok()) throw CallError("git cannot pack " + project.top.string() + ": " + made.words);
  const std::string name = "pack-" + made.Line();
  program.pipe.Answer("send");
  for (const char* kind : {".pack", ".idx"}) {
    const fs::path file = directory.path() / (name + kind);
    program.NextReport();  // "ready"
    program.pipe.Answer(std::to_string(fs::file_size(file)) + " " + name);
    program.pipe.SendFile(file);
  }
  program.NextReport();  // "received"
  program.pipe.Answer("sent");
}

/// What `git init` leaves as it is.
std::string GuestConfiguration(const Project& project) {
  return "[gc]\nauto = 0\n[commit]\ngpgSign = false\n[user]\nname = " +
         QuotedLine(project.user_name) + "email = " + QuotedLine(project.user_email);
}

/// `common`: what need not be sent if the guest has it.
Sent Converse(const Target& target, const Project& project, const Snapshot& snapshot,
              const std::vector<std::string>& common) {
  SideRepository& side = target.side;
  std::ifstream file(side.path() / "shallow");
  const std::string shallow{std::istreambuf_iterator<char>(file), {}};
  Program program(target, common,
                  {{"NEW", snapshot.commit},
                   {"HEAD_ID", project.head},
                   {"BRANCH", project.branch},
                   {"FORMAT", project.format},
                   {"CONFIG", GuestConfiguration(project)},
                   {"SHALLOW", shallow}},
                  send_program);
  const GuestState& state = program.state;
  Sent sent{.before = state};
  if (state.directory != "absent" && state.directory != "interrupted") {
    program.RequireOurs();
    sent.end = Decide(target, project, snapshot, state);
    if (sent.end != SendEnd::kReplaced) return sent;
  }
  const std::optional<FileLock> use = side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use && state.directory != "ours") throw CallError(kInUse);
  if (!use) return {SendEnd::kContinued, state};
  CopyFacts facts = {project.format, target.project, target.directory, project.branch};
  if (side.facts().directory.empty()) side.Save(facts);
  std::vector<std::string> known = common;  // by both
  std::erase_if(known, [&](const std::string& id) {
    return std::find(state.known.begin(), state.known.end(), id) == state.known.end();
  });
  SendPack(program, side, project, snapshot.commit + "\n" + project.head + "\n" + Excluding(known));
  program.NextReport();  // "applied"
  facts.sent = snapshot.commit;
  facts.base = project.head;
  side.Save(facts);
  program.pipe.Answer("applied");
  program.NextReport();  // "end"
  return sent;
}

/// What the guest counts its files from.
std::vector<std::string> LastTaken(const SideRepository& side) {
  const CopyFacts& facts = side.facts();
  return {facts.taken.empty() ? facts.applied : facts.taken};
}

}  // namespace

Sent Send(const Target& target, const Project& project, const Snapshot& snapshot) {
  Sent sent;
  try {
    sent = Converse(target, project, snapshot, CommonCommits(target.side));
  } catch (const Program::Failure& failure) {
    // It may lack what its ids need.
    if (failure.reason != "apply") throw;
    sent = Converse(target, project, snapshot, {});
  }
  (void)target.side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return sent;
}

GuestState Ask(const Target& target) {
  const Program program(target, LastTaken(target.side), {{"FORCE", ""}}, drop_program);
  program.RequireOurs();
  return program.state;
}

void Drop(const Target& target, bool force) {
  const auto use = target.side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use) throw CallError(kInUse);
  Program program(target, LastTaken(target.side), {{"FORCE", force ? "1" : ""}}, drop_program);
  const GuestState& state = program.state;
  if (state.directory != "absent") {
    const CopyFacts& facts = target.side.facts();
    const bool keeps = !force && !(state.directory == "interrupted" && facts.sent.empty());
    if (state.directory == "foreign" || keeps) program.RequireOurs();
    if (keeps && (!facts.IsTaken(state.work) || state.others > 0)) {
      const bool is_one = state.commits + state.files + state.others == 1;
      throw CallError(state.Summary() + (is_one ? " was" : " were") +
                      " not taken: take, or --force.");
    }
    program.pipe.Answer("drop");
    program.NextReport();  // "end"
  }
  target.side.Remove();
}

}  // namespace copy
