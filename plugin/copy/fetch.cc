#include <algorithm>
#include <filesystem>

#include "copy/copy.h"
#include "copy/guest_program.h"
#include "copy/programs.h"
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

void Index(GuestProgram& program, const Git& git, std::uint64_t max_size) {
  support::Child index = git.Start({"-c", "pack.threads=1", "index-pack", "--stdin", "--fix-thin",
                                    "--strict", "--max-input-size=" + std::to_string(max_size)},
                                   {.input = support::Child::kPipe});
  program.Receive(max_size, [&](std::string_view bytes) { return index.Write(bytes); });
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
  const std::vector<std::string> names = Split(list.output, '\0');
  const bool is_too_much = list.is_cut || names.size() > kMaxNames ||
                           std::any_of(names.begin(), names.end(), [](const std::string& name) {
                             return name.size() > kMaxPath;
                           });
  if (!is_too_much) return;
  throw CallError(
      "The guest's tree has more than 1,000,000 files or a path above 4,096 bytes: no working "
      "tree has. Nothing was taken.");
}

GuestState Converse(const Target& target, std::uint64_t max_size, GuestProgram::Packs packs) {
  SideRepository& side = target.side;
  GuestProgram program(target, packs, {}, fetch_program);
  program.RequireOurs();
  const std::string& work = program.state.work;
  if (std::find(program.common.begin(), program.common.end(), work) == program.common.end()) {
    program.NextReport();  // "pack"
    const fs::path quarantine = side.MakeScratch();
    fs::create_directory(quarantine / "pack");
    SideRepository::Borrow(quarantine, side.path() / "objects");
    const Git git = side.git().With({"GIT_OBJECT_DIRECTORY=" + quarantine.string()});
    Index(program, git, max_size);
    RequireComplete(git, work);
    RequireNames(git, work);
    Accept(quarantine, side);
  }
  CopyFacts facts = side.facts();
  facts.work = work;
  side.Save(facts);
  return program.state;
}

}  // namespace

GuestState Fetch(const Target& target, std::uint64_t max_size) {
  try {
    return Converse(target, max_size, GuestProgram::Packs::kThin);
  } catch (const Unsound&) {
    return Converse(target, max_size, GuestProgram::Packs::kWhole);
  }
}

}  // namespace copy
