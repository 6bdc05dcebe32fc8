// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "copy/copy.h"
#include "copy/programs.h"
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

/// What old and harmless history has. git refuses ids that it does not know, so none newer
/// than 2.34.
constexpr const char* kStrict =
    "--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeEmail=ignore,"
    "missingSpaceBeforeDate=ignore,missingEmail=ignore,badDate=ignore,badDateOverflow=ignore,"
    "nulInCommit=ignore";

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

void Index(Copy& copy, const std::string& program, const std::string& revisions, const Git& git,
           std::uint64_t max_size) {
  support::Child index = git.Start({"-c", "pack.threads=1", "index-pack", "--stdin", kStrict,
                                    "--max-input-size=" + std::to_string(max_size)},
                                   {.input = support::Child::kPipe});
  ReceivePack(copy, program, revisions, max_size,
              [&](std::string_view bytes) { return index.Write(bytes); });
  if (index.Finish() != 0) throw BadPack(ErrorLine(index));
}

std::vector<std::string> Sorted(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

/// The ids of the objects in the packs, sorted.
std::vector<std::string> ObjectsIn(const Git& git, const fs::path& packs) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(packs)) {
    if (entry.path().extension() != ".idx") continue;
    // "OFFSET ID (CRC)"
    const std::string list = git.Run({"show-index"}, support::ReadText(entry.path())).output;
    for (const std::string& line : Split(list, '\n')) ids.push_back(Split(line, ' ').at(1));
  }
  return Sorted(std::move(ids));
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
  const auto sent = ObjectsIn(git, packs);
  if (std::includes(sent.begin(), sent.end(), all.begin(), all.end())) return;
  throw BadPack("it names objects that it has neither made nor got from here");
}

/// The tree of the work. Throws unless a working tree can have its names.
git::TreeEntries ReadTree(const Git& git, const std::string& work) {
  bool is_cut = false;
  git::TreeEntries tree;
  try {
    tree = git::Tree(git, work, &is_cut);
  } catch (const Error& error) {
    throw BadPack(error.what());
  }
  const auto is_too_long = [](const auto& entry) { return entry.path.size() > kMaxPath; };
  if (!is_cut && std::none_of(tree.begin(), tree.end(), is_too_long)) return tree;
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

/// Brings commits that `program` packs into a quarantine, for as long as `use` runs with its git
/// and directory. `common`: what the guest leaves out.
void Receive(Copy& copy, const std::string& program, const std::vector<std::string>& ids,
             const std::vector<std::string>& common, std::uint64_t max_size,
             const std::function<void(const Git&, const fs::path&)>& use) {
  const SideRepository& side = copy.side();
  const fs::path quarantine = side.MakeScratch();
  fs::create_directory(quarantine / "pack");
  const Git git = side.git().With(
      {{"GIT_OBJECT_DIRECTORY", quarantine.string()},
       {"GIT_ALTERNATE_OBJECT_DIRECTORIES", Quoted((side.path() / "objects").string())}});
  Index(copy, program, support::Join(ids, "\n") + "\n" + Excluding(common), git, max_size);
  RequireComplete(git, ids, quarantine / "pack");
  use(git, quarantine);
}

/// `common`: what the guest may leave out.
GuestState Fetch(Copy& copy, std::uint64_t max_size, Refs refs,
                 const std::vector<std::string>& common) {
  SideRepository& side = copy.side();
  GuestState state = CommitGuestWork(copy, common, {}, refs != Refs::kUncounted);
  RequireOurs(side, state);
  std::vector<std::string> ids = {state.work};
  if (refs == Refs::kAll) {
    for (const Untaken::Ref& ref : state.untaken.refs) ids.push_back(ref.id);
  }
  const auto known = std::erase_if(ids, [&](const std::string& id) {
    return std::find(common.begin(), common.end(), id) != common.end();
  });
  if (known > 0 && CommonCommits(side).empty()) throw BadPack("git gc has deleted a commit here");
  if (!ids.empty()) {
    Receive(copy, "pack", ids, state.known, max_size,
            [&](const Git& git, const fs::path& quarantine) {
              state.tree = ReadTree(git, state.work);
              Accept(quarantine, side);
            });
  }
  CopyFacts facts = side.facts();
  facts.work = state.work;
  side.Save(facts);
  return state;
}

/// Calls `attempt` with what guest and host have in common; again without, if the pack is bad.
template <typename Attempt>
auto WithCommon(Copy& copy, std::vector<std::string> common, const Attempt& attempt) {
  try {
    return attempt(common);
  } catch (const BadPack&) {
  }
  try {
    return attempt({});
  } catch (const BadPack& bad) {
    throw Error("{} To get the files: `{}`", bad.what(),
                FilesCommand(copy.side().place().instance, copy.side().facts().directory));
  }
}

}  // namespace

GuestState Fetch(Copy& copy, std::uint64_t max_size, Refs refs) {
  copy.Connect();
  DeleteUnused(copy.side());
  return WithCommon(
      copy, copy.side().facts().Commits(),
      [&](const std::vector<std::string>& common) { return Fetch(copy, max_size, refs, common); });
}

void FetchCheckpoints(Copy& copy, const std::vector<std::string>& ids, std::uint64_t max_size,
                      const std::function<void(const Git&)>& use) {
  WithCommon(copy, Existing(copy.side().git(), {copy.side().facts().sent}),
             [&](const std::vector<std::string>& common) {
               Receive(copy, std::string(checkpoint_program) + "open_store\npack", ids, common,
                       max_size, [&](const Git& git, const fs::path&) { use(git); });
             });
}

}  // namespace copy
