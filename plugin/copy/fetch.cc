#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "copy/copy.h"
#include "copy/programs.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/wake_pipe.h"

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

/// A directory for objects that goes with its object.
class Quarantine {
 public:
  explicit Quarantine(const SideRepository& side)
      : objects_(side.path() / "objects"), directory_(side.path() / "incoming") {
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "pack");
    side.Borrow(directory_, objects_);
  }
  ~Quarantine() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Quarantine(const Quarantine&) = delete;
  Quarantine& operator=(const Quarantine&) = delete;

  [[nodiscard]] std::string variable() const {
    return "GIT_OBJECT_DIRECTORY=" + directory_.string();
  }

  /// git finds a pack by its .idx.
  void Accept() const {
    for (const bool is_index : {false, true}) {
      for (const auto& entry : fs::directory_iterator(directory_ / "pack")) {
        const fs::path& file = entry.path();
        if ((file.extension() == ".idx") == is_index) {
          fs::rename(file, objects_ / "pack" / file.filename());
        }
      }
    }
  }

 private:
  const fs::path objects_;
  const fs::path directory_;
};

/// Reads the messages of a git whose input comes from elsewhere, so that it does not wait for that.
class BackgroundReader {
 public:
  explicit BackgroundReader(GitChild& child)
      : child_(child), thread_([&child] { child.Read([](std::string_view) {}); }) {}
  ~BackgroundReader() {
    if (!thread_.joinable()) return;
    child_.Kill();
    thread_.join();
  }
  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  bool Finish() {
    thread_.join();
    return child_.Finish();
  }

 private:
  GitChild& child_;
  std::thread thread_;
};

void Index(GuestScript& script, const Git& git, std::uint64_t max_size) {
  Progress progress("Receiving");
  support::Pipe pipe;
  GitChild index = git.Start({"-c", "pack.threads=1", "index-pack", "--stdin", "--fix-thin",
                              "--strict", "--max-input-size=" + std::to_string(max_size)},
                             {.input = pipe.read_end.get()});
  pipe.read_end.Close();
  BackgroundReader reader(index);
  if (!script.ReceivePack(std::move(pipe.write_end), max_size, progress)) {
    throw CallError("More than " + support::FormatByteCount(max_size) + " (--max-size)." +
                    kNothingChanged);
  }
  if (!reader.Finish()) throw Unsound(index.Words());
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
  std::size_t names = 0;
  std::size_t length = 0;
  bool too_long = false;
  GitChild list = git.Start({"ls-tree", "-r", "-z", "--name-only", "--full-tree", id}, {});
  list.Read([&](std::string_view bytes) {
    for (const char byte : bytes) {
      length = byte == '\0' ? 0 : length + 1;
      names += byte == '\0' ? 1 : 0;
      too_long = too_long || length > kMaxPath;
    }
    if (names > kMaxNames || too_long) {
      throw CallError(
          "The guest's tree has more than 1,000,000 files or a path above 4,096 bytes: no working "
          "tree has. Nothing was taken.");
    }
  });
  if (!list.Finish()) throw Unsound(list.Words());
}

Work Converse(const Target& target, std::uint64_t max_size, bool thin) {
  SideRepository& side = target.side;
  GuestScript script(target.guest,
                     MakeProgram(target, {}, {begin_program, work_program, fetch_program}));
  const GuestState state = ReadState(script, target);
  RequireOurs(state, target);
  const std::string& id = state.work.id;
  if (!side.git().Run({"cat-file", "-e", id + "^{commit}"}).ok()) {
    script.Answer(thin ? "thin" : "all");
    script.NextReport();  // "pack"
    const Quarantine quarantine(side);
    const Git git = side.git().With({quarantine.variable()});
    Index(script, git, max_size);
    RequireComplete(git, id);
    RequireNames(git, id);
    quarantine.Accept();
  }
  side.SetRefs({{"work", id}});
  return state.work;
}

}  // namespace

Work Fetch(const Target& target, std::uint64_t max_size) {
  try {
    try {
      return Converse(target, max_size, true);
    } catch (const Unsound&) {
      return Converse(target, max_size, false);
    }
  } catch (const GuestScript::Failure& failure) {
    ThrowFailure(failure, target);
  }
}

Work Ask(const Target& target) {
  GuestScript script(target.guest,
                     MakeProgram(target, {}, {begin_program, work_program, fetch_program}));
  const GuestState state = ReadState(script, target);
  RequireOurs(state, target);
  return state.work;
}

}  // namespace copy
