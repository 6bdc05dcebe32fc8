#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "copy/copy.h"
#include "copy/guest_program.h"
#include "copy/programs.h"
#include "support/errors.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::CallError;

constexpr const char* kInUse = "An agent works in this copy; end it first.";

/// Sends what `revisions` name, in lines. The pack comes with its index, so that the guest need not
/// check it.
void SendPack(GuestProgram& program, const SideRepository& side, const Project& project,
              const std::string& revisions) {
  const fs::path directory = side.MakeScratch();
  const GitOutput made = side.git().WithoutLimits().Run(
      {"pack-objects", "--revs", "--delta-base-offset", "-q", directory / "pack"}, revisions);
  if (!made.ok() && project.is_partial) throw CallError(kPartialText);
  if (!made.ok()) throw CallError("git cannot pack " + project.top.string() + ": " + made.words);
  const std::string name = "pack-" + made.Line();
  program.Answer("send");
  for (const char* kind : {".pack", ".idx"}) {
    const fs::path file = directory / (name + kind);
    program.NextReport();  // "ready"
    program.Answer(std::to_string(fs::file_size(file)) + " " + name);
    program.SendFile(file);
  }
  program.NextReport();  // "received"
  program.Answer("sent");
}

/// What `git init` leaves as it is.
std::string GuestConfiguration(const Project& project) {
  return "[gc]\nauto = 0\n[commit]\ngpgSign = false\n[user]\nname = " +
         QuotedLine(project.user_name) + "email = " + QuotedLine(project.user_email);
}

std::vector<std::string> Converse(const Target& target, const Project& project,
                                  const Snapshot& snapshot, const Git& users,
                                  GuestProgram::Packs packs) {
  SideRepository& side = target.side;
  std::ifstream file(side.path() / "shallow");
  const std::string shallow{std::istreambuf_iterator<char>(file), {}};
  GuestProgram program(target, packs,
                       {{"NEW", snapshot.commit},
                        {"HEAD_ID", project.head},
                        {"BRANCH", project.branch},
                        {"FORMAT", project.format},
                        {"CONFIG", GuestConfiguration(project)},
                        {"SHALLOW", shallow}},
                       send_program);
  const GuestState& state = program.state;
  const CopyFacts facts = side.facts();
  const std::string place = side.place().instance + ":" + facts.directory;
  const std::string the_copy = "The copy in " + place;
  const bool is_there = state.directory != "absent" && state.directory != "interrupted";
  if (is_there) {
    program.RequireOurs();
    if (!facts.IsTaken(state.work) || state.lost > 0) {
      return {the_copy + " stays as it is: " + state.Summary() + " not taken. limactl mcp take " +
              side.place().instance};
    }
    const bool is_current = state.work == snapshot.commit && facts.sent == snapshot.commit &&
                            facts.base == project.head && facts.branch == project.branch;
    if (is_current) return {the_copy + " is up to date."};
  }
  const std::optional<FileLock> use = side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use && !is_there) throw CallError(kInUse);
  if (!use) return {the_copy + " stays as it is: it is in use."};

  std::vector<std::string> lines;
  const bool was_made = !facts.sent.empty();
  if (was_made && state.directory == "absent") {
    lines.emplace_back("The copy was gone; it is made anew.");
  }
  if (!was_made) side.Save(facts);
  SendPack(program, side, project,
           snapshot.commit + "\n" + project.head + "\n" + Excluding(state.known));
  program.NextReport();  // "applied"
  side.Save({.project = facts.project,
             .directory = facts.directory,
             .branch = project.branch,
             .sent = snapshot.commit,
             .base = project.head,
             .applied = snapshot.commit});
  program.Answer("applied");
  program.NextReport();  // "end"
  for (const auto& notes : {snapshot.notes, ListNotes(project, users)}) {
    for (const std::string& note : notes) lines.push_back("Note: " + note + ".");
  }
  lines.push_back(is_there ? the_copy + " starts again from here." : "Copied to " + place + ".");
  return lines;
}

}  // namespace

std::vector<std::string> Send(const Target& target, const Project& project,
                              const Snapshot& snapshot, const Git& users) {
  std::vector<std::string> lines;
  try {
    lines = Converse(target, project, snapshot, users, GuestProgram::Packs::kThin);
  } catch (const GuestProgram::Failure& failure) {
    // It may lack what its ids need.
    if (failure.reason != "apply") throw;
    lines = Converse(target, project, snapshot, users, GuestProgram::Packs::kWhole);
  }
  (void)target.side.git().Run({"-c", "gc.autoDetach=false", "gc", "-q", "--auto"});
  return lines;
}

GuestState Ask(const Target& target) {
  const GuestProgram program(target, GuestProgram::Packs::kThin, {{"FORCE", ""}}, drop_program);
  program.RequireOurs();
  return program.state;
}

void Drop(const Target& target, bool force) {
  const auto use = target.side.place().TakeUse(FileLock::Kind::kExclusive);
  if (!use) throw CallError(kInUse);
  GuestProgram program(target, GuestProgram::Packs::kThin, {{"FORCE", force ? "1" : ""}},
                       drop_program);
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
    program.Answer("drop");
    program.NextReport();  // "end"
  }
  target.side.Remove();
}

}  // namespace copy
