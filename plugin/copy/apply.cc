// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "copy/copy.h"
#include "copy/saved_files.h"
#include "exposure/names.h"
#include "support/errors.h"
#include "support/units.h"

namespace copy {

using exposure::List;
using exposure::Visible;
using git::GitOutput;
using git::kNoEntry;
using git::kRepositoryMode;
using git::ParseRaw;
using git::RawChange;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::CommandError;
using support::Format;

/// Exists in the side repository while files of the working tree are being changed.
constexpr const char* kSaved = "applying";
/// Bytes of changed files that `git apply` is given: it needs twice as much memory.
constexpr std::uint64_t kMaxApplied = std::uint64_t{512} << 20U;
constexpr std::size_t kMostNamed = 10;

std::string Named(std::vector<std::string> paths) {
  for (std::string& path : paths) path = Visible(path);
  return List(paths, kMostNamed);
}

/// `git apply` has all files in memory.
void RequireSize(const Git& git, const SideRepository& side, const std::string& ids,
                 std::uint64_t max_size) {
  std::uint64_t size = 0;
  for (const std::string& each : Split(git.Require({"cat-file", "--batch-check=%(objectsize)"},
                                                   "git cannot read the work", ids),
                                       '\n')) {
    size += std::stoull(each);
  }
  const std::uint64_t most = std::min(max_size, kMaxApplied);
  if (size <= most) return;
  throw CommandError("The changed files have {}, more than {}{}", support::FormatByteCount(size),
                     support::FormatByteCount(most),
                     most == max_size
                         ? "; raise --max-size. Nothing was changed."
                         : Format(". Nothing was changed. As a branch instead: limactl mcp take {}",
                                  side.place().arguments));
}

/// The first change that `git apply` reported and did not make; empty if it made all.
std::string Left(const fs::path& top, const std::vector<RawChange>& changes) {
  for (const RawChange& change : changes) {
    const auto type = TypeBelow(top, change.path);
    const bool is_there = type != fs::file_type::not_found && type != fs::file_type::directory;
    if (change.mode == kNoEntry && is_there) return Format("git cannot delete {}", change.path);
    if (change.mode != kNoEntry && change.mode != kRepositoryMode && !is_there)
      return Format("git has not written {}", change.path);
  }
  return "";
}

/// Throws, with `problem`, once the working tree is as it was, or with what is not.
[[noreturn]] void Undo(const SavedFiles& saved, const SideRepository& side,
                       const std::string& problem) {
  const std::vector<std::string> different = saved.PutBack();
  if (!different.empty()) {
    throw CommandError("{}. Not put back: {}. What they were is in {}", problem, Named(different),
                       (side.path() / kSaved / "files").string());
  }
  saved.Discard(side.MakeScratch());
  throw CommandError("{}. The working tree is as it was. As a branch instead: limactl mcp take {}",
                     problem, side.place().arguments);
}

}  // namespace

/// `git apply` checks the whole patch, then removes all old files before it writes the new ones. A
/// full disk or a kill in between would leave neither, so every file is saved first, on disk. The
/// last two steps must keep their order: once `applied` names the work, UndoInterruptedApply only
/// discards the saved files; until then it puts them back. The exit status of git is not enough
/// (see Left), and the lock keeps the working tree from another copy of the project meanwhile.
void ApplyWork(const Git& users, SideRepository& side, std::uint64_t max_size) {
  const fs::path top = side.place().top;
  const fs::path scratch = side.MakeScratch();
  // A file, not a pipe: git apply must not see a part of it.
  const fs::path patch = scratch / "patch";
  WritePatch(side, side.facts().applied, patch, max_size);
  const std::string work = side.facts().work;
  const std::vector<RawChange> changes = ParseRaw(side.git().Require(
      {"diff-tree", "-r", "-z", "--raw", "--no-renames", side.facts().applied, work},
      "git cannot compare"));
  std::vector<std::string> paths;
  std::string ids;
  for (const RawChange& change : changes) {
    paths.push_back(change.path);
    if (change.mode != kNoEntry && change.mode != kRepositoryMode) ids += change.id + "\n";
  }
  RequireSize(side.git(), side, ids, max_size);

  const FileLock lock = side.place().LockTree();
  const SavedFiles saved = SavedFiles::Save(top, paths, work, scratch, side.path() / kSaved);
  // The agent's bytes, whatever the user's settings say about blanks.
  const GitOutput applied = users.Run(
      {"-c", "apply.ignoreWhitespace=no", "apply", "--whitespace=nowarn", patch.string()});
  const std::string problem =
      applied.ok() ? Left(top, changes) : Format("git apply: {}", applied.error_line);
  if (!problem.empty()) Undo(saved, side, problem);
  CopyFacts facts = side.facts();
  facts.applied = work;
  side.Save(facts);
  saved.Discard(scratch);
}

std::string UndoInterruptedApply(const SideRepository& side) {
  const fs::path top = side.place().top;
  const fs::path directory = side.path() / kSaved;
  const auto saved = SavedFiles::Find(top, directory);
  if (!saved) return "";
  const FileLock lock = side.place().LockTree();
  std::string note;
  if (saved->purpose() != side.facts().applied) {
    // The user may have changed the files meanwhile.
    fs::path displaced;
    for (int number = 1; displaced.empty() || fs::exists(displaced); ++number) {
      displaced = side.path();
      displaced.replace_extension("undone-" + std::to_string(number));
    }
    const std::vector<std::string> different = saved->PutBack(displaced);
    if (!different.empty()) {
      throw CommandError(
          "An interrupted take --apply cannot be undone: {}. Put them back from {}, then delete {}",
          Named(different), (directory / "files").string(), directory.string());
    }
    note = "An interrupted take --apply was undone.";
    if (fs::exists(displaced))
      note += Format(" What was there meanwhile is in {}.", displaced.string());
  }
  saved->Discard(side.MakeScratch());
  return note;
}

}  // namespace copy
