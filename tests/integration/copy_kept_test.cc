// SPDX-License-Identifier: Apache-2.0
// Both sides work at random: what a command takes away is kept, or one word brings it back.

#include <cstdlib>
#include <iostream>

#include "integration/copy_fixture.h"
#include "integration/copy_work.h"

namespace integration {
namespace {

/// What the user does after `take --apply`, with $n.
const std::vector<std::string> kEdits = {
    "echo $n >> file.txt",         "rm -f dir/inner.txt", "echo $n > agent-$((n - 1))",
    "mkdir -p dir; echo > dir/$n", "echo $n > new-$n",    "rm -f link; echo $n > link",
    "chmod +x file.txt",           "git reset -q --hard", "true",
};

class Undo : public CopyTest {
 protected:
  static std::string At(const Files& files, const std::string& path) {
    const auto found = files.find(path);
    return found == files.end() ? "" : found->second;
  }

  void Move(const fs::path& directory, const std::string& side,
            const std::vector<std::string>& moves) {
    const std::string& move = moves[random() % moves.size()];
    log_ += side + ": " + move + "\n";
    Shell(directory, "n=" + std::to_string(++number_) + " side=" + side + "\n" + move);
  }

  /// The paths that were applied, or those of them that were changed since.
  static std::set<std::string> Applied(const Files& before, const Files& applied,
                                       const Files* since = nullptr) {
    std::set<std::string> paths;
    for (const Files* files : {&before, &applied}) {
      for (const auto& [path, text] : *files) {
        const bool is_changed = since == nullptr || (At(*since, path) != At(applied, path) &&
                                                     At(*since, path) != At(before, path));
        if (At(before, path) != At(applied, path) && is_changed) paths.insert(path);
      }
    }
    return paths;
  }

  std::mt19937 random = SeededRandom();
  int number_ = 0;
  std::string log_;
};

TEST_F(Undo, GivesTheFilesOfBeforeAndOnlyIfForcedThoseThatWereChangedSince) {
  StartAgent();
  const auto end = std::chrono::steady_clock::now() + kTime;
  for (int round = 0; round < 8 && std::chrono::steady_clock::now() < end; ++round) {
    log_.clear();
    MakeProject("p" + std::to_string(round));
    for (std::size_t moves = random() % 4; moves > 0; --moves) Move(project, "host", kMoves);
    SendCopy();
    for (std::size_t moves = 1 + random() % 4; moves > 0; --moves) Move(copy, "agent", kMoves);
    const Files before = FilesOf(project);
    const ProcessResult applied_by = Run({"take", "--apply", "--yes"});
    const Files applied = FilesOf(project);
    SCOPED_TRACE(log_ + applied_by.output + applied_by.error);
    if (applied == before) continue;
    for (std::size_t moves = random() % 3; moves > 0; --moves) Move(project, "user", kEdits);
    const Files now = FilesOf(project);
    const ProcessResult undone = Run({"take", "--undo"});
    const bool is_changed = !Applied(before, applied, &now).empty();
    EXPECT_EQ(undone.exit_code, is_changed ? 1 : 0) << undone.error;
    if (is_changed) {
      EXPECT_EQ(FilesOf(project), now) << "all or nothing";
      Succeed({"take", "--undo", "--force"});
    }
    Files wanted = now;
    for (const std::string& path : Applied(before, applied)) {
      wanted.erase(path);
      if (before.contains(path)) wanted[path] = At(before, path);
    }
    EXPECT_EQ(FilesOf(project), wanted);
    ASSERT_FALSE(HasFailure()) << undone.output << undone.error << log_;
  }
}

/// What else an agent may do at any time.
const std::vector<std::string> kOddWork = {
    "git notes add -f -m $n",
    "git checkout -q -b side-$n HEAD~ 2>/dev/null || true; echo $n > side-$n; git add side-$n; git "
    "commit -qm side-$n",
    "git checkout -q --detach HEAD~ 2>/dev/null || true",
    "git branch stash-$n; echo $n > stash-$n; git stash -qu",
    "git branch -f moved $(git commit-tree -p HEAD -m $n HEAD:)",
    "echo $n > file.txt; git stash -q; echo $n > other; git stash apply -q 2>/dev/null || git "
    "reset -q "
    "--hard",
    "rm -f file.txt",
    "mkdir -p odd/$n; echo $n > odd/$n/file",
};

/// Each command keeps what was there, or one word brings it back.
class Everything : public CopyTest {
 protected:
  using Ids = std::set<std::string>;

  static Ids IdsOf(const std::string& text) {
    const auto lines = LinesOf(text);
    return {lines.begin(), lines.end()};
  }

  /// Commits that a ref, a HEAD or a stash has, and files that no rule ignores.
  Ids Work() const {
    Ids ids;
    for (const fs::path& directory : {project, copy}) {
      if (fs::exists(directory)) ids.merge(IdsOf(Shell(directory, kFunctions + "refs; files")));
    }
    return ids;
  }

  /// All that is in the project and its reflogs, in the copy, in its checkpoints, and set aside.
  Ids Kept() const {
    Ids ids = IdsOf(Shell(project, kFunctions + "refs --objects --reflog; files"));
    if (fs::exists(copy)) {
      ids.merge(IdsOf(Shell(copy, kFunctions + "refs --objects; files; checkpoints")));
    }
    const fs::path aside = Path("guest-home") / ".cache/limactl-mcp/dropped";
    if (!fs::exists(aside)) return ids;
    for (const auto& entry : fs::directory_iterator(aside)) {
      ids.merge(IdsOf(Shell(entry.path(), kFunctions + "refs --objects; files")));
    }
    return ids;
  }

  Ids Missing(Ids ids) const {
    for (const std::string& id : Kept()) ids.erase(id);
    return ids;
  }

  void DoAny(const std::vector<std::vector<std::string>>& lists, const fs::path& directory,
             const std::string& side) {
    const auto& list = lists[random() % lists.size()];
    const std::string& move = list[random() % list.size()];
    log_ += side + ": " + move + "\n";
    Shell(directory, "n=" + std::to_string(++number_) + " side=" + side + "\n( " + move +
                         "\n) >/dev/null 2>&1 || true");
  }

  void Do(const Command& command) {
    const Ids before = Work();
    const ProcessResult result = Run(command);
    log_ += Joined(command) + "\n" + result.output + result.error;
    Ids missing = Missing(before);
    if (missing.empty()) return;
    ASSERT_EQ(command.front(), "take") << log_;
    (void)Run({"take", "--undo", "--force"});
    EXPECT_THAT(Missing(missing), IsEmpty()) << log_ << "is not brought back by take --undo";
    (void)Run({"take", "--undo", "--force"});
  }

  static std::string Joined(const Command& command) {
    std::string text = "limactl mcp";
    for (const std::string& word : command) text += " " + word;
    return text;
  }

  static inline const std::string kFunctions = R"sh(
    refs() {
      git rev-list ${1:+--no-object-names} "$@" --all HEAD $(git rev-list -g refs/stash 2>/dev/null) || true
    }
    files() {
      { git ls-files -z; git ls-files -z -o --exclude-standard; } |
        xargs -0 sh -c 'for f; do [ ! -f "$f" ] || [ -L "$f" ] || git hash-object "$f"; done' sh
    }
    checkpoints() {
      [ ! -e .git/limactl-mcp.undo ] ||
        git --git-dir=.git/limactl-mcp.undo rev-list --objects --no-object-names --all
    }
  )sh";

  std::mt19937 random = SeededRandom();
  int number_ = 0;
  std::string log_;
};

TEST_F(Everything, IsKeptOrBroughtBackByOneWord) {
  StartAgent();
  MakeProject("p");
  SendCopy();
  const std::vector<Command> commands = {{"take"},
                                         {"take"},
                                         {"take", "--apply", "--yes"},
                                         {"take", "--apply", "--yes"},
                                         {"take", "--undo"},
                                         {"copy", "--copy-dir", copy},
                                         {"copy", "--copy-dir", copy},
                                         {"drop"},
                                         {"drop", "--force"},
                                         {"drop", "--undo"}};
  const Steps steps;
  int step = 0;
  for (; !steps.AreOver(step); ++step) {
    for (std::size_t moves = random() % 2; moves > 0; --moves) DoAny({kMoves}, project, "host");
    for (std::size_t moves = random() % 3; moves > 0 && fs::exists(copy); --moves) {
      DoAny({kWork, kOddWork}, copy, "agent");
    }
    Do(commands[random() % commands.size()]);
    ASSERT_FALSE(HasFailure()) << log_;
    if (!fs::exists(copy)) Do({"copy", "--copy-dir", copy});
  }
  std::cout << step << " steps\n";
}

}  // namespace
}  // namespace integration
