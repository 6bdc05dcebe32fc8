// SPDX-License-Identifier: Apache-2.0
// Both sides work at random; and two commands at once.

#include <signal.h>

#include <iostream>

#include "integration/copy_fixture.h"
#include "integration/copy_work.h"

namespace integration {
namespace {

class Cycles : public CopyTest {
 protected:
  /// What counts as the agent's work: files, index excepted, and HEAD.
  using State = std::pair<Files, std::string>;
  State Now() const { return {FilesOf(copy), InCopy("git rev-parse HEAD")}; }

  bool IsClean(const State& state) const { return state == sent_ || state == taken_; }

  /// Whether the copy is clean, or a branch of the project has all of it.
  bool IsTaken(const State& state) const {
    return IsClean(state) || (InCopy("git status --porcelain") == "" &&
                              InProject("git for-each-ref --contains " + state.second +
                                        " 2>/dev/null || true") != "");
  }

  void Move(const fs::path& directory, const std::string& side) {
    const std::string& move = kMoves[random() % kMoves.size()];
    Log(side + ": " + move);
    Shell(directory, "n=" + std::to_string(++number_) + " side=" + side +
                         " GIT_COMMITTER_NAME=" + side + "\n" + move);
  }

  std::set<std::string> CommitsOfTheAgent() const {
    const std::string commits = InCopy("git rev-list --all HEAD --committer=agent");
    const std::vector<std::string> lines = LinesOf(commits);
    return {lines.begin(), lines.end()};
  }

  /// Each commit is reachable in the copy, or in the project, whose reflog of agent/ counts.
  void ExpectKept(std::set<std::string> commits) {
    for (const std::string& commit : LinesOf(InProject("git rev-list --all --reflog")))
      commits.erase(commit);
    if (!commits.empty() && fs::exists(copy)) {
      for (const std::string& commit : LinesOf(InCopy("git rev-list --all HEAD")))
        commits.erase(commit);
    }
    EXPECT_THAT(commits, IsEmpty());
  }

  void Send() {
    const bool exists = fs::exists(copy);
    const State before = exists ? Now() : State();
    const bool was_taken = !exists || IsTaken(before);
    const std::set<std::string> commits = exists ? CommitsOfTheAgent() : std::set<std::string>();
    const Snapshot host = SnapshotOf(project);
    SendCopy();
    EXPECT_THAT(Changes(host, SnapshotOf(project)), IsEmpty());
    if (exists && !was_taken) {
      EXPECT_EQ(Now(), before) << "work that was not taken was replaced";
      return;
    }
    EXPECT_EQ(FilesOf(copy), FilesOf(project));
    EXPECT_EQ(InCopy("git rev-parse HEAD"), InProject("git rev-parse HEAD"));
    ExpectKept(commits);
    taken_ = sent_ = Now();
    files_sent_ = FilesOf(project);
  }

  void Take() {
    const Snapshot host = SnapshotOf(project);
    Succeed({"take"});
    EXPECT_THAT(ChangesButABranch(host, SnapshotOf(project)), IsEmpty());
    const State now = Now();
    if (now == sent_) return;
    const std::string tree = InCopy(
        "export GIT_INDEX_FILE=$PWD/../index; git read-tree HEAD; git add -A; git write-tree");
    const std::string found =
        InProject("git for-each-ref --format='%(tree) %(refname)' --contains " + now.second +
                  " refs/heads/agent/");
    EXPECT_THAT(found, HasSubstr(tree)) << "no branch has the copy's files and its HEAD";
    taken_ = now;
  }

  void Compare() {
    const Snapshot host = SnapshotOf(project);
    testing_support::WriteFile(Path("patch"), Succeed({"diff"}).output);
    EXPECT_THAT(Changes(host, SnapshotOf(project)), IsEmpty());
    fs::create_directory(Path("was"));
    for (const auto& [name, text] : files_sent_) {
      const fs::path path = Path("was") / name;
      if (text.starts_with("> ")) {
        fs::create_symlink(text.substr(2), path);
        continue;
      }
      testing_support::WriteFile(path, text.substr(2));
      if (text.starts_with("x ")) fs::permissions(path, fs::perms::owner_all);
    }
    Shell(Path("was"), "[ ! -s ../patch ] || git apply ../patch");
    EXPECT_EQ(FilesOf(Path("was")), FilesOf(copy));
    fs::remove_all(Path("was"));
  }

  void Drop() {
    const State before = Now();
    const bool was_taken = IsTaken(before);
    const std::set<std::string> commits = CommitsOfTheAgent();
    if (Run({"drop"}).exit_code == 0) {
      EXPECT_TRUE(was_taken) << "dropped what was not taken";
      EXPECT_FALSE(fs::exists(copy));
      ExpectKept(commits);
    } else {
      EXPECT_EQ(Now(), before);
      if (!was_taken || random() % 2 == 0) return;
      Succeed({"drop", "--force"});
    }
    Send();
  }

  void Log(const std::string& what) { log_ += what + "\n"; }

  std::mt19937 random = SeededRandom();
  int number_ = 0;
  std::string log_;
  State sent_;
  State taken_;  ///< the last, or what was sent
  Files files_sent_;
};

TEST_F(Cycles, LoseNothingAndBringBackExactlyTheCopy) {
  StartAgent();
  MakeProject("p");
  Send();
  const Steps steps;
  int step = 0;
  for (; !steps.AreOver(step); ++step) {
    for (std::size_t moves = random() % 3; moves > 0; --moves) Move(project, "host");
    for (std::size_t moves = random() % 3; moves > 0; --moves) Move(copy, "agent");
    const std::size_t command = random() % 10;
    Log(command < 4 ? "COPY" : command < 7 ? "TAKE" : command < 9 ? "DIFF" : "DROP");
    if (command < 4) Send();
    if (command >= 4 && command < 7) Take();
    if (command >= 7 && command < 9) Compare();
    if (command == 9) Drop();
    ASSERT_FALSE(HasFailure()) << log_;
  }
  std::cout << step << " steps\n";
}

class AgentsWork : public CopyTest {
 protected:
  /// Ids of all commits that a ref, a HEAD or a stash has, and of the files that no rule ignores;
  /// and the directories of other repositories and working trees with changes.
  std::set<std::string> Work() const {
    const std::string text = InCopy(R"sh(
      git rev-list --all HEAD $(git rev-list -g refs/stash 2>/dev/null)
      { git ls-files -z; git ls-files -z -o --exclude-standard; } |
        xargs -0 sh -c 'for f; do [ ! -f "$f" ] || [ -L "$f" ] || git hash-object "$f"; done' sh
      find . -path ./.git -prune -o -path '*/.git/*' -prune -o -name .git -print | grep nested || true
      for tree in tree-* ../tree-*; do
        [ ! -e $tree ] || [ -z "$(git -C $tree status --porcelain)" ] || echo $tree
      done)sh");
    const auto lines = LinesOf(text);
    return {lines.begin(), lines.end()};
  }
};

TEST_F(AgentsWork, IsDroppedOnlyOnceTheHostHasIt) {
  StartAgent();
  MakeProject("p");
  std::mt19937 random = SeededRandom();
  int number = 0;
  const auto end = std::chrono::steady_clock::now() + kTime;
  for (int round = 0; round < 8 && std::chrono::steady_clock::now() < end; ++round) {
    SendCopy();
    std::string log;
    for (std::size_t moves = 1 + random() % 5; moves > 0; --moves) {
      const std::string& move = kWork[random() % kWork.size()];
      log += move + "\n";
      InCopy("n=" + std::to_string(++number) + "\n" + move);
    }
    SCOPED_TRACE(log);
    std::set<std::string> work = Work();
    if (random() % 2 == 0) (void)Run({"take"});  // 1 if there is a repository in it
    bool is_dropped = Run({"drop"}).exit_code == 0;
    if (!is_dropped) {
      (void)Run({"take"});
      // As the text says.
      InCopy("for t in tree-* ../tree-*; do [ ! -e $t ] || git -C $t stash -qu; done");
      std::erase_if(
          work, [](const std::string& each) { return each.find("tree-") != std::string::npos; });
      (void)Run({"take"});
      is_dropped = Run({"drop"}).exit_code == 0;
    }
    const std::string kept = InProject("git rev-list --objects --all");
    std::erase_if(work, [&](const std::string& id) { return kept.find(id) != std::string::npos; });
    if (is_dropped) {
      EXPECT_THAT(work, IsEmpty()) << "dropped";
    } else {
      const std::string refused = Run({"drop"}).error;
      EXPECT_THAT(refused, HasSubstr("nested")) << "nothing else is left";
      Succeed({"drop", "--force"});
    }
    Shell(Path(), "rm -rf tree-*");
    InProject("git branch --list 'agent/*' | xargs -r git branch -qD");
    ASSERT_FALSE(HasFailure());
  }
}

class TwoAtOnce : public CopyTest {
 protected:
  /// The next call of the guest's git with `word` among its arguments waits for Release.
  void Hold(const std::string& word) {
    Shell(Path(), "mkfifo gate");
    MakeProgram("guest-bin/git", "PATH=${PATH#*:}\nfor word; do [ \"$word\" != " + word +
                                     " ] || { : > " + Path("held").string() + "; read -r x < " +
                                     Path("gate").string() + "; break; }; done\nexec git \"$@\"\n");
  }
  void Release() {
    fs::remove(Path("guest-bin/git"));
    Shell(Path(), "echo > gate");
  }
};

TEST_F(TwoAtOnce, OneIsRefused) {
  StartAgent();
  MakeProject("p");
  Hold("read-tree");
  ChildProcess first(CommandOptions({"copy", "--copy-dir", copy}));
  ASSERT_TRUE(Eventually([this] { return fs::exists(Path("held")); }, 30s));
  const ProcessResult refused = Run({"copy", "--copy-dir", copy});
  const std::string holder = "process " + std::to_string(first.pid());
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.error, HasSubstr("waiting for " + holder + ", which works with this copy"));
  EXPECT_THAT(refused.error,
              HasSubstr("Another limactl mcp works with this copy (" + holder + ")"));
  Release();
  EXPECT_EQ(first.Wait(30s), 0);
  EXPECT_EQ(FilesOf(copy), FilesOf(project));
}

TEST_F(TwoAtOnce, TheOtherWaits) {
  StartAgent();
  MakeProject("p");
  SendCopy();
  InCopy("echo work >> file.txt; git commit -qam work");
  Hold("pack-objects");
  ChildProcess first(CommandOptions({"take"}));
  ASSERT_TRUE(Eventually([this] { return fs::exists(Path("held")); }, 30s));
  ChildProcess second(CommandOptions({"take"}));
  Release();
  EXPECT_EQ(first.Wait(30s), 0);
  EXPECT_EQ(second.Wait(30s), 0);
  EXPECT_EQ(InProject("git branch --format='%(refname:short)'"), "agent/main\nmain");
}

}  // namespace
}  // namespace integration
