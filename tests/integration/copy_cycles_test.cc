// SPDX-License-Identifier: Apache-2.0
// Both sides work at random; and two commands at once.
//
// LIMACTL_MCP_CYCLES sets the number of steps (default: kSteps, or what kTime allows), and
// LIMACTL_MCP_SEED the seed.

#include <signal.h>

#include <cstdlib>
#include <iostream>

#include "integration/copy_fixture.h"

namespace integration {
namespace {

constexpr std::chrono::seconds kTime{15};
constexpr int kSteps = 32;

/// With $n, a new number, and $side. A side may do any of them at any time.
const std::vector<std::string> kMoves = {
    "echo $n >> file.txt",
    "echo $n >> file.txt",
    "echo $n > $side-$n",
    "echo $n > $side-$n; chmod +x $side-$n; ln -sf $side-$n link",
    "rm -f $side-*",
    "git rm -qf --ignore-unmatch dir/inner.txt",
    "echo $n > staged; git add staged; echo more >> staged",
    "git add -A; git commit -q --allow-empty -m $side-$n",
    "git commit -q --allow-empty -am $side-$n",
    "git commit -q --amend --allow-empty -am $side-amended-$n",
    "! git rev-parse -q --verify HEAD~ >/dev/null || git reset -q --soft HEAD~",
    "! git rev-parse -q --verify HEAD~ >/dev/null || git reset -q --hard HEAD~",
    "git reset -q --hard",
    "git stash -q -u",
    "git switch -q -c $side-$n",
    "git switch -q -f main || git switch -q -c main",
    "git reflog expire --expire=now HEAD; git -c gc.auto=0 gc -q --prune=now",
};

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
  const char* given = std::getenv("LIMACTL_MCP_CYCLES");
  const int steps = given == nullptr ? kSteps : std::atoi(given);
  const auto end =
      std::chrono::steady_clock::now() + (given == nullptr ? kTime : std::chrono::hours(1));
  int step = 0;
  for (; step < steps && std::chrono::steady_clock::now() < end; ++step) {
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

/// What an agent does, with $n, a new number. The copy is the current directory.
const std::vector<std::string> kWork = {
    "echo $n > new-$n",
    "echo $n >> file.txt; git commit -qam $n",
    "echo $n >> file.txt; git commit -q --amend -am $n",
    "echo $n >> dir/inner.txt",
    "echo $n > s-$n; git stash -qu",
    "git switch -qc feat/$n; echo $n > b-$n; git add b-$n; git commit -qm $n",
    "git switch -q --detach; git commit -q --allow-empty -m $n",
    "git switch -qf main",
    "git tag t$n; git commit -q --allow-empty -m $n; git tag u$n; git reset -q --soft HEAD~",
    "git rebase -q --root --onto HEAD 2>/dev/null || git rebase --abort 2>/dev/null || true",
    "git init -q nested-$n; echo $n > nested-$n/file",
    "d=$(printf 'nested-%s\\nx' $n); git init -q \"$d\"; echo $n > \"$d/file\"",
    "mkdir deep-$n; git init -q deep-$n/nested; cd deep-$n/nested; echo $n > f; git add f; git "
    "commit -qm $n",
    "git worktree add -q ../tree-$n -b tree-$n; cd ../tree-$n; git commit -q --allow-empty -m $n",
    "git worktree add -q --detach tree-$n; echo $n > tree-$n/new",
    "git update-index --assume-unchanged file.txt; echo hidden $n >> file.txt",
    "git update-index --skip-worktree dir/inner.txt; echo hidden $n >> dir/inner.txt",
    "echo /ignored-$n >> .gitignore; echo $n > ignored-$n",
    "echo $n > ignored-$n; git add -f ignored-$n",
    "sed -i 1d .gitignore 2>/dev/null || true",
    "git gc -q --prune=now",
};

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

  /// What was changed since stays and is named; all else is as it was.
  void ExpectUndone(const Files& before, const Files& applied, const Files& now,
                    const std::string& said) {
    const Files after = FilesOf(project);
    std::set<std::string> paths;
    for (const Files* files : {&before, &applied, &now, &after}) {
      for (const auto& [path, text] : *files) paths.insert(path);
    }
    for (const std::string& path : paths) {
      const bool was_applied = At(before, path) != At(applied, path);
      const bool has_changed = At(now, path) != At(applied, path);
      const bool stays = !was_applied || (has_changed && At(now, path) != At(before, path));
      EXPECT_EQ(At(after, path), At(stays ? now : before, path)) << path;
      if (stays && was_applied) EXPECT_THAT(said, HasSubstr(path));
    }
  }

  std::mt19937 random = SeededRandom();
  int number_ = 0;
  std::string log_;
};

TEST_F(Undo, GivesTheFilesOfBeforeOrNamesWhatItLeft) {
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
    ExpectUndone(before, applied, now, undone.error);
    EXPECT_EQ(undone.exit_code, undone.error.empty() ? 0 : 1) << undone.error;
    if (undone.exit_code != 0) {
      Succeed({"take", "--undo", "--force"});
      Files forced = now;
      for (const Files* files : {&before, &applied}) {
        for (const auto& [path, text] : *files) {
          if (At(before, path) == At(applied, path)) continue;
          forced.erase(path);
          if (applied.contains(path)) forced[path] = At(applied, path);
        }
      }
      ExpectUndone(before, applied, forced, "");
    }
    ASSERT_FALSE(HasFailure()) << undone.output << undone.error << log_;
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
