#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "copy/copy.h"
#include "copy/programs.h"
#include "support/errors.h"
#include "support/units.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
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

/// A pack that the guest need not check, since it comes with its index. Goes with its object.
class Pack {
 public:
  /// What `revisions` name, in lines.
  Pack(const SideRepository& side, const Project& project, const std::string& revisions)
      : directory_(side.path() / "outgoing") {
    fs::create_directory(directory_);
    const GitOutput made = side.git().WithoutLimits().Run(
        {"pack-objects", "--revs", "--delta-base-offset", "-q", (directory_ / "pack").string()},
        revisions);
    if (!made.ok() && project.is_partial) throw CallError(kPartialText);
    if (!made.ok()) {
      throw CallError("git cannot pack " + project.top.string() + ": " + made.words);
    }
    name_ = "pack-" + made.Line();
  }
  ~Pack() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Pack(const Pack&) = delete;
  Pack& operator=(const Pack&) = delete;

  void Send(GuestPipe& pipe) const {
    for (const char* kind : {".pack", ".idx"}) {
      const fs::path file = directory_ / (name_ + kind);
      pipe.NextReport();  // "ready"
      pipe.Answer(std::to_string(fs::file_size(file)) + " " + name_);
      pipe.SendFile(file);
    }
    pipe.Answer("sent");
  }

  [[nodiscard]] std::uint64_t size() const { return fs::file_size(directory_ / (name_ + ".pack")); }

 private:
  const fs::path directory_;
  std::string name_;
};

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
  GuestPipe pipe(target.guest, MakeProgram(target, common,
                                           {{"NEW", snapshot.commit},
                                            {"HEAD_ID", project.head},
                                            {"BRANCH", project.branch},
                                            {"FORMAT", project.format},
                                            {"CONFIG", GuestConfiguration(project)},
                                            {"SHALLOW", shallow}},
                                           send_program));
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
  std::string revisions = snapshot.commit + "\n" + project.head + "\n";
  for (const std::string& id : common) {
    const auto& known = sent.before.known;
    if (std::find(known.begin(), known.end(), id) != known.end()) revisions += "^" + id + "\n";
  }
  const Pack pack(side, project, revisions);
  pipe.Answer("send");
  try {
    pack.Send(pipe);
    pipe.NextReport();  // "applied"
    facts.sent = snapshot.commit;
    facts.base = project.head;
    side.Save(facts);
    pipe.Answer("applied");
    pipe.NextReport();  // "end"
  } catch (const GuestPipe::Failure& failure) {
    if (failure.reason() != "space") throw;
    Refuse("space", " (" + support::FormatByteCount(pack.size()) + " and the files are needed)",
           target);
  }
  return sent;
}

}  // namespace

Sent Send(const Target& target, const Project& project, const Snapshot& snapshot) {
  Sent sent;
  try {
    try {
      sent = Converse(target, project, snapshot, CommonCommits(target.side));
    } catch (const GuestPipe::Failure& failure) {
      // It may lack what its ids need.
      if (failure.reason() != "apply") throw;
      sent = Converse(target, project, snapshot, {});
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
  GuestPipe pipe(target.guest,
                 MakeProgram(target, {}, {{"FORCE", force ? "1" : ""}}, drop_program));
  const GuestState state = ReadState(pipe, target);
  if (state.directory != "absent") {
    const bool has_nothing = state.directory == "interrupted" && target.side.facts().sent.empty();
    if (state.directory == "foreign" || (!force && !has_nothing)) RequireOurs(state, target);
    if (!force && !has_nothing && !(target.side.facts().IsTaken(state.work) && state.others == 0)) {
      const bool is_one = state.commits + state.files + state.others == 1;
      throw CallError(state.Summary() + (is_one ? " was" : " were") +
                      " not taken: take, or --force.");
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
