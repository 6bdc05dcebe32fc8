// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>

#include "copy/copy.h"
#include "copy/guest_copy.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/join.h"
#include "support/words.h"

namespace copy {

using git::ErrorLine;
using git::Excluding;
using git::Existing;
using git::GitOutput;
using git::Split;
using git::Unchanged;
namespace {

namespace fs = std::filesystem;
using support::Error;

constexpr std::size_t kMaxPath = 4096;

/// What old and harmless history has. The last two are unknown to git before 2.39.1.
constexpr std::array kHarmless = {
    "zeroPaddedFilemode",     "badTimezone",  "missingSpaceBeforeEmail",
    "missingSpaceBeforeDate", "missingEmail", "badDate",
    "badDateOverflow",        "nulInCommit",  "gitattributesLineLength",
    "gitattributesLarge"};
constexpr std::size_t kKnownToAll = kHarmless.size() - 2;

/// The pack is bad. Try once more with a full pack: a common commit may be gone here.
class BadPack : public Error {
 public:
  explicit BadPack(const std::string& reason)
      : Error("What the guest sent is not sound: {}. Nothing was changed.", reason) {}
};

/// Moves the pack in a directory to the side repository. git finds a pack by its .idx.
void Accept(const fs::path& objects, const SideRepository& side) {
  for (const bool is_index : {false, true}) {
    for (const auto& entry : fs::directory_iterator(objects / "pack")) {
      const fs::path& file = entry.path();
      if ((file.extension() == ".idx") != is_index) continue;
      fs::rename(file, side.path() / "objects/pack" / file.filename());
    }
  }
}

void Index(const Target& target, const std::string& revisions, const Git& git,
           std::uint64_t max_size, std::size_t harmless = kHarmless.size()) {
  std::string strict = "--strict=";
  for (std::size_t i = 0; i < harmless; ++i) strict += kHarmless.at(i) + std::string("=ignore,");
  strict.pop_back();
  support::Child index = git.Start({"-c", "pack.threads=1", "index-pack", "--stdin", strict,
                                    "--max-input-size=" + std::to_string(max_size)},
                                   {.input = support::Child::kPipe});
  ReceivePack(target, revisions, max_size,
              [&](std::string_view bytes) { return index.Write(bytes); });
  if (index.Finish() == 0) return;
  const std::string problem = ErrorLine(index);
  const bool is_old = problem.find("Unhandled message id") != std::string::npos;
  if (!is_old || harmless == kKnownToAll) throw BadPack(problem);
  Index(target, revisions, git, max_size, kKnownToAll);
}

std::vector<std::string> Sorted(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The ids in git's index of the pack, version 2: 8 bytes, 256 numbers, the last of which is that
/// of the ids, and the ids, sorted.
std::vector<std::string> ObjectsIn(const fs::path& packs, std::size_t id_length) {
  constexpr std::size_t kIds = 8 + 256 * 4;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(packs)) {
    if (entry.path().extension() != ".idx") continue;
    const std::string text = support::ReadText(entry.path());
    std::size_t count = 0;
    for (std::size_t i = kIds - 4; i < kIds; ++i) {
      count = count * 256 + static_cast<unsigned char>(text.at(i));
    }
    for (std::size_t i = kIds; i < kIds + count * id_length / 2; ++i) {
      if ((i - kIds) % (id_length / 2) == 0) ids.emplace_back();
      const auto byte = static_cast<unsigned char>(text.at(i));
      ids.back() += {kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return ids;
}

void RequireCommit(const Git& git, const std::string& id) {
  if (git.Run({"cat-file", "-t", id}).Line() != "commit")
    throw BadPack(support::Format("no commit {}", id));
}

/// Throws BadPack unless the ids are commits, and every object that they need was sent: by the host
/// before, or in `packs`. An object that only the user's repository has does not count.
void RequireComplete(const Git& git, const std::vector<std::string>& ids, const fs::path& packs) {
  Git::Arguments list = {"rev-list", "--objects", "--no-object-names"};
  for (const std::string& id : ids) list.push_back(id + "^{commit}");
  Git::Arguments new_ones = list;
  new_ones.insert(new_ones.end(), {"--not", "--all"});
  GitOutput needed = git.Run(new_ones);
  // The user's gc may have pruned what the side repository has.
  if (!needed.ok()) needed = git.Run(list);
  const auto all = Sorted(Split(needed.output, '\n'));
  for (const std::string& id : ids) {
    if (!std::binary_search(all.begin(), all.end(), id)) RequireCommit(git, id);
  }
  if (!needed.ok()) throw BadPack(needed.error_line);
  if (needed.is_cut) throw BadPack("too many objects");
  const auto sent = ObjectsIn(packs, ids.front().size());
  if (std::includes(sent.begin(), sent.end(), all.begin(), all.end())) return;
  throw BadPack("it names objects that it has neither made nor got from here");
}

/// The tree of the work. Throws unless a working tree can have its names, and those of what else
/// differs from it.
git::TreeEntries ReadTree(const Git& git, const std::string& work,
                          const std::vector<std::string>& ids) {
  std::string others;
  for (const std::string& id : ids) {
    if (id != work) others += id + " " + work + "\n";
  }
  git::TreeEntries tree;
  GitOutput names;
  try {
    tree = git::Tree(git, work, &names.is_cut);
  } catch (const Error& error) {
    throw BadPack(error.what());
  }
  std::vector<std::string> paths;
  for (const git::TreeEntry& entry : tree) paths.push_back(entry.path);
  if (!others.empty() && !names.is_cut) {
    names = git.Run({"diff-tree", "--stdin", "-r", "-z", "--name-only", "--no-renames"}, others);
    if (!names.ok()) throw BadPack(names.error_line);
    for (std::string& path : Split(names.output, '\0')) paths.push_back(std::move(path));
  }
  const auto is_too_long = [](const std::string& path) { return path.size() > kMaxPath; };
  if (!names.is_cut && std::none_of(paths.begin(), paths.end(), is_too_long)) return tree;
  throw Error(
      Unchanged("The guest's tree has more than 1,000,000 files or a path above 4,096 bytes: no "
                "working tree has"));
}

/// Deletes packs of earlier calls that were not kept.
void DeleteUnused(const SideRepository& side) {
  constexpr int kMaxPacks = 2;
  int packs = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(side.path() / "objects/pack", none)) {
    packs += entry.path().extension() == ".pack" ? 1 : 0;
  }
  if (packs <= kMaxPacks) return;
  const Git git = Git::Neutral(side.path(), side.lock(), Git::Limits::kNone);
  (void)git.Run({"repack", "-a", "-d", "-l", "-q", "--window=0"});
}

/// `common`: what the guest may leave out.
GuestState Fetch(const Target& target, std::uint64_t max_size, Refs refs,
                 const std::vector<std::string>& common) {
  SideRepository& side = target.side;
  GuestState state = CommitGuestWork(target, common, {}, refs != Refs::kUncounted);
  RequireOurs(target, state);
  std::vector<std::string> ids = {state.work};
  if (refs == Refs::kAll) {
    for (const Untaken::Ref& ref : state.untaken.refs) ids.push_back(ref.id);
  }
  const auto known = std::erase_if(ids, [&](const std::string& id) {
    return std::find(common.begin(), common.end(), id) != common.end();
  });
  if (known > 0 && CommonCommits(side).empty()) throw BadPack("git gc has deleted a commit here");
  if (!ids.empty()) {
    const fs::path quarantine = side.MakeScratch();
    fs::create_directory(quarantine / "pack");
    const Git git = side.git().With(
        {{"GIT_OBJECT_DIRECTORY", quarantine.string()},
         {"GIT_ALTERNATE_OBJECT_DIRECTORIES", Quoted((side.path() / "objects").string())}});
    Index(target, support::Join(ids, "\n") + "\n" + Excluding(state.known), git, max_size);
    RequireComplete(git, ids, quarantine / "pack");
    state.tree = ReadTree(git, state.work, ids);
    Accept(quarantine, side);
  }
  CopyFacts facts = side.facts();
  facts.work = state.work;
  side.Save(facts);
  return state;
}

}  // namespace

GuestState Fetch(const Target& target, std::uint64_t max_size, Refs refs) {
  DeleteUnused(target.side);
  try {
    return Fetch(target, max_size, refs, target.side.facts().Commits());
  } catch (const BadPack&) {
  }
  try {
    return Fetch(target, max_size, refs, {});
  } catch (const BadPack& bad) {
    throw Error("{} To get the files: `{}`", bad.what(),
                FilesCommand(target.side.place().instance, target.side.facts().directory));
  }
}

}  // namespace copy
