#include <algorithm>
#include <filesystem>

#include "copy/copy.h"
#include "copy/guest_copy.h"
#include "support/errors.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::CallError;

constexpr std::size_t kMaxNames = 1'000'000;
constexpr std::size_t kMaxPath = 4096;
constexpr const char* kNothingChanged = " Nothing was changed.";

/// What the guest sent may still be sound if it is sent again without leaving out anything.
class Unsound : public CallError {
 public:
  explicit Unsound(const std::string& words)
      : CallError("What the guest sent is not sound: " + words + "." + kNothingChanged) {}
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

void Index(const Target& target, const GuestState& state, const Git& git, std::uint64_t max_size) {
  support::Child index = git.Start({"-c", "pack.threads=1", "index-pack", "--stdin", "--fix-thin",
                                    "--strict", "--max-input-size=" + std::to_string(max_size)},
                                   {.input = support::Child::kPipe});
  ReceivePack(target, state.work + "\n" + Excluding(state.known), max_size,
              [&](std::string_view bytes) { return index.Write(bytes); });
  if (index.Finish() != 0) throw Unsound(Words(index));
}

/// Throws Unsound unless `id` is a commit with everything that it needs.
void RequireComplete(const Git& git, const std::string& id) {
  if (git.Run({"cat-file", "-t", id}).Line() != "commit") throw Unsound("no commit " + id);
  // The second time without what the side repository has: the user's gc may have pruned it.
  if (git.Run({"rev-list", "--objects", "--quiet", id, "--not", "--all"}).ok()) return;
  const GitOutput all = git.Run({"rev-list", "--objects", "--quiet", id});
  if (!all.ok()) throw Unsound(all.words);
}

void RequireNames(const Git& git, const std::string& id) {
  const GitOutput list = git.Run({"ls-tree", "-r", "-z", "--name-only", "--full-tree", id});
  if (!list.ok()) throw Unsound(list.words);
  const std::vector<std::string> names = Split(list.is_cut ? "" : list.output, '\0');
  const bool is_too_much = list.is_cut || names.size() > kMaxNames ||
                           std::any_of(names.begin(), names.end(), [](const std::string& name) {
                             return name.size() > kMaxPath;
                           });
  if (!is_too_much) return;
  throw CallError(
      "The guest's tree has more than 1,000,000 files or a path above 4,096 bytes: no working "
      "tree has. Nothing was taken.");
}

/// `common`: what the guest may leave out.
GuestState Fetch(const Target& target, std::uint64_t max_size,
                 const std::vector<std::string>& common) {
  SideRepository& side = target.side;
  GuestState state = Look(target, common);
  RequireOurs(target, state);
  if (std::find(common.begin(), common.end(), state.work) == common.end()) {
    const fs::path quarantine = side.MakeScratch();
    fs::create_directory(quarantine / "pack");
    const Git git = side.git().With(
        {{"GIT_OBJECT_DIRECTORY", quarantine.string()},
         {"GIT_ALTERNATE_OBJECT_DIRECTORIES", Quoted((side.path() / "objects").string())}});
    Index(target, state, git, max_size);
    RequireComplete(git, state.work);
    RequireNames(git, state.work);
    Accept(quarantine, side);
  }
  CopyFacts facts = side.facts();
  facts.work = state.work;
  side.Save(facts);
  return state;
}

}  // namespace

GuestState Fetch(const Target& target, std::uint64_t max_size) {
  try {
    return Fetch(target, max_size, CommonCommits(target.side));
  } catch (const Unsound&) {
    return Fetch(target, max_size, {});
  }
}

}  // namespace copy
