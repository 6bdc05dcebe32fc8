// SPDX-License-Identifier: Apache-2.0
#include "copy/apply.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "copy/snapshot.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/units.h"

namespace copy {

using git::GitOutput;
using git::kNoEntry;
using git::kRepositoryMode;
using git::RawChange;
using git::Split;
using git::Unchanged;
using paths::Visible;
namespace {

namespace fs = std::filesystem;
using support::Error;
using support::Format;

/// Bytes of changed files that `git apply` is given: it needs twice as much memory.
constexpr std::uint64_t kMaxApplied = std::uint64_t{512} << 20U;

std::string BranchInstead(const SideRepository& side) {
  return Format("As a branch instead: limactl mcp take {}", side.place().arguments);
}

/// `git apply` has all files in memory.
void RequireSize(const SideRepository& side, const Patch& patch) {
  const std::uint64_t max_size = patch.max_size;
  if (fs::file_size(patch.file) > max_size) {
    throw Error(Unchanged(Format("The patch has more than {}; raise --max-size",
                                 support::FormatByteCount(max_size))));
  }
  std::set<std::string_view> ids;
  for (const RawChange& change : patch.changes.list) ids.insert(change.id);
  std::uint64_t size = 0;
  for (const git::TreeEntry& entry : patch.changes.tree) {
    size += ids.contains(entry.id) ? entry.size : 0;
  }
  const std::uint64_t most = std::min(max_size, kMaxApplied);
  if (size <= most) return;
  throw Error("The changed files have {}, more than {}{}", support::FormatByteCount(size),
              support::FormatByteCount(most),
              most == max_size ? "; raise --max-size. Nothing was changed."
                               : ". Nothing was changed. " + BranchInstead(side));
}

/// Throws if a new path is one with another on a file system that ignores case.
void RequireDistinct(const Git& users, const SideRepository& side,
                     const exposure::CommitChanges& changes) {
  std::map<std::string, std::string> deleted;  // by folded path
  for (const exposure::Change& change : changes.list) {
    if (change.is_deleted()) deleted.emplace(paths::Folded(change.path), change.path);
  }
  for (const exposure::Change& change : changes.list) {
    if (change.is_deleted()) continue;
    const auto found = deleted.find(paths::Folded(change.path));
    std::string other = change.look_alike;
    if (found != deleted.end() && found->second != change.path) other = found->second;
    if (other.empty()) continue;
    if (users.Run({"config", "--type=bool", "core.ignorecase"}).Line() != "true") return;
    throw Error("{} and {} are one file here, where case is ignored. Nothing was changed. {}",
                Visible(change.path), Visible(other), BranchInstead(side));
  }
}

/// The changes that git makes, without what a report adds to them.
std::vector<RawChange> Applied(const exposure::CommitChanges& changes) {
  std::vector<RawChange> applied;
  for (const exposure::Change& change : changes.list) {
    if (change.note.empty()) applied.push_back(change);
  }
  return applied;
}

/// The ids that `git add` would give to files, by path; none if a filter fails.
std::map<std::string, std::string> CleanIds(const Git& users,
                                            const std::vector<std::string>& paths) {
  std::map<std::string, std::string> ids;
  if (paths.empty()) return ids;
  std::string lines;
  for (const std::string& path : paths) lines += Quoted(path) + "\n";
  const GitOutput read = users.Run({"hash-object", "--stdin-paths"}, lines);
  const std::vector<std::string> list = Split(read.output, '\n');
  for (std::size_t i = 0; i < list.size() && read.ok(); ++i) ids[paths[i]] = list[i];
  return ids;
}

/// The changes that undo what was sent beyond the user's commit: their path is there as it was.
std::vector<std::string> TakenBack(const SideRepository& side,
                                   const std::vector<RawChange>& changes) try {
  const CopyFacts& facts = side.facts();
  if (facts.sent == facts.base) return {};
  std::map<std::string, RawChange> sent;
  for (RawChange& change : git::Diff(side.git(), facts.base, facts.sent)) {
    sent.emplace(change.path, change);
  }
  std::vector<std::string> paths;
  for (const RawChange& change : changes) {
    const auto own = sent.find(change.path);
    if (own == sent.end()) continue;
    if (change.mode == own->second.old_mode && change.id == own->second.old_id)
      paths.push_back(change.path);
  }
  return paths;
} catch (const support::Error&) {
  return {};  // git gc has deleted the base; take --undo is left
}

/// Files that are not as they were sent, and that a filter or a rule for line ends would store as
/// something else.
std::vector<std::string> Converted(const Git& users, const std::vector<RawChange>& changes,
                                   const Files& files) {
  std::vector<std::string> different;
  for (const RawChange& change : changes) {
    const File file = At(files, change.path);
    if (file.IsRegular() && file.id != change.old_id) different.push_back(change.path);
  }
  std::vector<std::string> converted;
  for (const auto& [path, id] : CleanIds(users, different)) {
    if (id != At(files, path).id) converted.push_back(path);
  }
  return converted;
}

/// The first change that `git apply` reported and did not make; empty if it made all. What becomes
/// of a file that had changes of the user's is git's to know.
std::string NotMade(const Git& users, const std::vector<RawChange>& changes, const Files& before,
                    const Files& after) {
  std::vector<std::string> filtered;
  std::map<std::string, std::string> wanted;
  for (const RawChange& change : changes) {
    const File was = At(before, change.path);
    const File is = At(after, change.path);
    const bool is_there = is.mode != 0 && !is.IsDirectory();
    if (change.mode == kNoEntry && is_there) return Format("git cannot delete {}", change.path);
    if (change.mode == kNoEntry || change.mode == kRepositoryMode) continue;
    if (!is_there) return Format("git has not written {}", change.path);
    const bool was_as_sent = was.mode == 0 || (was.IsRegular() && was.id == change.old_id);
    const bool is_file = change.mode != exposure::kLinkMode && is.IsRegular();
    if (!was_as_sent || !is_file || is.id == change.id) continue;
    filtered.push_back(change.path);
    wanted[change.path] = change.id;
  }
  for (const auto& [path, id] : CleanIds(users, filtered)) {
    if (id != wanted[path]) return Format("git has written {} otherwise", path);
  }
  return "";
}

/// Throws, with `problem`, once the working tree is as it was, or with what is not.
[[noreturn]] void PutBack(const RawSnapshot& before, const SideRepository& side,
                          const std::string& problem) {
  const std::vector<std::string> different = before.Put(before.files());
  if (!different.empty()) {
    throw Error("{}. Not put back: {}. Once they can be written: limactl mcp take --undo {}",
                problem, Named(different), side.place().arguments);
  }
  before.Remove();
  throw Error("{}. The working tree is as it was. {}", problem, BranchInstead(side));
}

std::string Advice(const Git& users, const GitOutput& applied) {
  const bool is_sparse =
      applied.error_line.find("No such file") != std::string::npos &&
      users.Run({"config", "--type=bool", "core.sparseCheckout"}).Line() == "true";
  return Format("git apply: {}{}", applied.error_line,
                is_sparse ? ". This checkout is sparse: git sparse-checkout disable" : "");
}

}  // namespace

Patch ReadPatch(const SideRepository& side, git::TreeEntries tree, std::uint64_t max_size) {
  Patch patch{{}, side.MakeScratch() / "patch", max_size};
  // A file, not a pipe: git apply must not see a part of it.
  std::ofstream file(patch.file, std::ios::binary);
  std::uint64_t size = 0;
  const auto write = [&](std::string_view bytes) {
    size += bytes.size();
    file << bytes;
    return size <= max_size && file.good();
  };
  patch.changes = exposure::ReadCommits(side.git(), side.facts().applied, side.facts().work, false,
                                        {}, std::move(tree), write);
  file.close();
  if (!file) throw Error("cannot write {}", patch.file.string());
  return patch;
}

/// `git apply` checks the whole patch, then removes all old files before it writes the new ones. A
/// full disk or a kill in between would leave neither, so there is a snapshot of them first. Its
/// number is one above that of the facts until these are saved: so UndoInterruptedApply knows it.
/// The exit status of git is not enough (see NotMade), and the lock keeps the working tree from
/// another copy of the project meanwhile.
std::size_t ApplyWork(const Git& users, SideRepository& side, const Patch& patch,
                      const Consent& consent) {
  RequireSize(side, patch);
  RequireDistinct(users, side, patch.changes);
  const fs::path scratch = patch.file.parent_path();
  const std::vector<RawChange> made = Applied(patch.changes);
  std::vector<std::string> paths;
  for (const RawChange& change : made) paths.push_back(change.path);

  const FileLock lock = side.place().LockTree();
  RawSnapshot before = RawSnapshot::Take(side, paths, scratch);
  // The user may have changed files while the question stood.
  if (consent({TakenBack(side, made), Converted(users, made, before.files())}))
    before = RawSnapshot::Take(side, paths, scratch);
  before.Publish(NextNumber(side));
  // The agent's bytes, whatever the user's settings say about blanks.
  const GitOutput applied = users.Run(
      {"-c", "apply.ignoreWhitespace=no", "apply", "--whitespace=nowarn", patch.file.string()});
  if (!applied.ok()) PutBack(before, side, Advice(users, applied));
  const Files after = before.Look(PathsOf(before.files()));
  const std::string problem = NotMade(users, made, before.files(), after);
  if (!problem.empty()) PutBack(before, side, problem);
  before.Complete(after);
  FinishChange(side, NextNumber(side), side.facts().work);
  return made.size();
}

}  // namespace copy
