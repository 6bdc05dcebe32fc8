// `limactl mcp diff` on a mount, where the guest can write all of the repository.

#include "integration/mount_fixture.h"

namespace integration {
namespace {

class MountDiff : public MountTest {
 protected:
  /// Output in a terminal.
  ProcessResult OnTerminal(const std::string& pager, const std::string& options = "") const {
    ChildProcess::Options process = McpOptions({});
    process.arguments = {"script", "-qec", "exec " + ServerProgram() + " diff " + options,
                         "/dev/null"};
    process.environment["PAGER"] = pager;
    return RunProcess(process);
  }
};

TEST_F(MountDiff, IsAPatchFromHeadToTheWorkingTree) {
  MakeProject("one");
  EXPECT_EQ(Succeeds({"diff"}), "");
  Script(R"sh(
    printf '*.log\n' > .gitignore; git add -A; git commit -qm ignore
    echo two > file.txt; rm long.txt; echo staged > staged; git add staged; echo x > x.log
    printf 'a\0b' > binary; ln -s file.txt link; echo run > run; chmod +x run file.txt
    mkdir sub; echo new > "sub/$(printf 'odd\n"name')"; git rm -q --cached file.txt)sh");
  const std::string patch = Succeeds({"diff"});
  MakeFile("patch", patch);
  EXPECT_THAT(patch, Not(HasSubstr("x.log")));
  // Applied to HEAD, it makes the same working tree.
  Script(
      "git clone -q . ../clone; cd ../clone; git apply ../../patch; rm -r .git; cd -; rm x.log;"
      "rm -r .git; diff -r --no-dereference . ../clone; test -x ../clone/run -a -x "
      "../clone/file.txt");
}

TEST_F(MountDiff, IsOfTheWholeRepository) {
  MakeProject("one");
  Script("mkdir sub; echo > sub/a; echo > b");
  project += "/sub";
  EXPECT_THAT(Succeeds({"diff"}), AllOf(HasSubstr("+++ b/b\n"), HasSubstr("+++ b/sub/a\n")));
  Script("truncate -s 2M large");
  EXPECT_THAT(Fails({"diff", "--max-size", "1MiB"}), HasSubstr("sub/large has more than"));
}

TEST_F(MountDiff, IsEmptyInEachKindOfRepository) {
  const std::map<std::string, std::string> repositories = {
      {"packed", "git pack-refs --all; git gc -q"},
      {"detached", "git checkout -q --detach"},
      {"branch", "git switch -qc a/b"},
      {"sha256",
       "rm -rf .git; git init -q -b main --object-format=sha256; git add -A; git commit -qm x"},
      {"alternates",
       "mv .git ../lender; git clone -q --shared ../lender ../lent; mv ../lent/.git ."},
      {"worktree",
       "git clone -q --bare . ../main; rm -rf .git *; git -C ../main worktree add -qf $PWD main"},
      {"separate", "mv .git ../separate.git; echo gitdir: ../separate.git > .git"},
      {"shallow",
       "git commit -q --allow-empty -m x; git clone -q --depth 1 file://$PWD ../s; rm -rf .git; mv "
       "../s/.git ."},
      {"submodule",
       "git clone -q . ../s; git -c protocol.file.allow=always submodule --quiet add $PWD/../s; "
       "git commit -qam s"},
      {"crlf",
       "printf 'a\\r\\nb\\r\\n' > text; printf '*.txt text eol=crlf\\n' > .gitattributes; git add "
       "-A; git commit -qm x; rm file.txt; git checkout -q file.txt"},
  };
  for (const auto& [name, script] : repositories) {
    SCOPED_TRACE(name);
    fs::remove_all(Path("projects"));
    MakeProject(name);
    Script(script);
    EXPECT_EQ(Succeeds({"diff"}), "");
    Script("echo two > long.txt");
    EXPECT_THAT(Succeeds({"diff", "--stat"}), HasSubstr("1 file changed"));
  }
}

struct Hostile {
  std::string name;
  std::string script;
  bool git_runs_it = true;  ///< the user's `git status` and `git diff` would
};

TEST_F(MountDiff, NothingPlantedRunsOrHides) {
  // git writes its index, and runs hooks then, once a file has another time but its old content.
  const std::string renewed =
      "echo same > same; git add same; git commit -qm same; touch -t 200101010000 same;";
  const std::vector<Hostile> rows = {
      {"fsmonitor", "git config core.fsmonitor $trap"},
      {"program on PATH", "mkdir tools; cp $trap tools/git"},
      {"hooks",
       renewed +
           "for h in post-index-change reference-transaction; do cp $trap .git/hooks/$h; done"},
      {"hooksPath", renewed + "mkdir h; cp $trap h/post-index-change; git config core.hooksPath h"},
      {"filters",
       "git config filter.x.clean $trap; git config filter.y.process $trap;"
       "printf '*.txt filter=x\\n*.c filter=y\\n' > .gitattributes; echo > a.c"},
      {"attributes in .git",
       "git config filter.x.clean $trap; mkdir -p .git/info; echo '* filter=x -diff' > "
       ".git/info/attributes"},
      {"textconv", "git config diff.x.textconv $trap; echo '* diff=x' > .gitattributes"},
      {"diff driver", "git config diff.x.command $trap; echo '* diff=x' > .gitattributes"},
      {"external diff", "git config diff.external $trap"},
      {"include",
       "printf '[core]\\nfsmonitor = %s\\n' $trap > .git/more; git config include.path more"},
      {"worktree configuration",
       "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor $trap"},
      {"commondir",
       "git clone -q . ../c; git -C ../c config core.fsmonitor $trap; echo ../../c/.git > "
       ".git/commondir"},
      {".git is a file",
       "git config core.fsmonitor $trap; mv .git ../moved; echo gitdir: ../moved > .git"},
      {".git is a link",
       "git config core.fsmonitor $trap; mv .git ../linked; ln -s ../linked .git"},
      {"nested",
       "git init -q sub; git -C sub commit -q --allow-empty -m x; git -C sub config core.fsmonitor "
       "$trap; git add sub 2>/dev/null"},
      {"submodule",
       "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null; git "
       "commit -qm s; git -C sub config core.fsmonitor $trap; echo > sub/x"},
      {"partial clone",
       "git config extensions.partialClone a; git config remote.a.promisor true; git config "
       "remote.a.url ext::$trap; git config protocol.ext.allow always;"
       "echo old > old; git add old; git commit -qm x; rm -f .git/objects/$(git rev-parse HEAD:old "
       "| sed 's|..|&/|'); git rm -q --cached old"},
      {"no diff", "echo '* -diff' > .gitattributes", false},
      {"assume unchanged", "git update-index --assume-unchanged file.txt long.txt", false},
      {"skip worktree", "git update-index --skip-worktree file.txt long.txt", false},
      {"excluded", "mkdir -p .git/info; echo '*' > .git/info/exclude", false},
      {"index", "echo garbage > .git/index", false},
      {"configuration", "echo '[' > .git/config", false},
  };
  for (const Hostile& row : rows) {
    SCOPED_TRACE(row.name);
    fs::remove_all(Path("projects"));
    MakeProject("one");
    Script(row.script);
    Script("echo two > file.txt; sed 1d long.txt > ../l; mv ../l long.txt; echo > new.txt");
    const ProcessResult result = Mcp({"diff"});
    if (row.name != "partial clone") {
      EXPECT_EQ(result.exit_code, 0) << result.error;
      EXPECT_THAT(result.output, AllOf(HasSubstr("-one\n+two\n"), HasSubstr("b/long.txt"),
                                       HasSubstr("b/new.txt")));
    }
    (void)Mcp({"diff", "--stat"});
    (void)Mcp({"changes", "--accept"});
    (void)Mcp({"changes"});
    EXPECT_FALSE(TrapWasRun());
    // Else the row tests nothing.
    ChildProcess::Options git = McpOptions({});
    git.arguments = {"sh", "-c", "git status; git diff HEAD; git diff"};
    RunProcess(git);
    EXPECT_EQ(TrapWasRun(), row.git_runs_it);
    fs::remove(Path("ran"));
  }
}

TEST_F(MountDiff, FailsIfItCannotBeWritten) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << Skipping("no /dev/full");
  MakeProject("one");
  Script("echo two > file.txt");
  ChildProcess::Options full = McpOptions({});
  full.arguments = {"sh", "-c", "exec " + ServerProgram() + " diff > /dev/full"};
  const ProcessResult result = RunProcess(full);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("cannot write the diff: No space left"));
}

TEST_F(MountDiff, ShowsWhatAttributesWouldConvert) {
  MakeProject("one");
  Script(R"sh(
    printf 'a $Id$\n' > ident; printf 'a\n' > encoded; git add -A; git commit -qm x
    printf 'a $Id: planted $\n' > ident; printf 'a\0\n\0' > encoded
    printf '* ident\nencoded working-tree-encoding=UTF-16LE\n' > .gitattributes)sh");
  EXPECT_THAT(Succeeds({"diff"}), AllOf(HasSubstr("+a $Id: planted $\n"), HasSubstr("a/encoded")));
}

TEST_F(MountDiff, SaysWhatItDoesNotShow) {
  MakeProject("one");
  Script("git init -q sub; echo > sub/x; echo two > file.txt");
  const ProcessResult result = Mcp({"diff"});
  EXPECT_EQ(result.error, "Note: not shown, since they are repositories of their own: sub/\n");
  EXPECT_THAT(result.output, HasSubstr("+two"));
}

TEST_F(MountDiff, ListsWhatTheHostRunsBeforeTheNames) {
  MakeProject("one");
  Script("echo > .envrc");
  EXPECT_EQ(Mcp({"diff", "--stat"}).error, "") << "no baseline";
  fs::remove(project + "/.envrc");
  Succeeds({"changes", "--accept"});
  Script("echo > .envrc");
  const ProcessResult result = Mcp({"diff", "--stat"});
  EXPECT_THAT(result.error, HasSubstr("  .envrc: direnv: a shell script\n"));
  EXPECT_THAT(result.output, HasSubstr(" .envrc | 1 +\n"));
  EXPECT_EQ(Mcp({"diff"}).error, "");
}

TEST_F(MountDiff, IsReadableOnATerminal) {
  if (!Installed("script")) GTEST_SKIP() << Skipping("no script");
  MakeProject("one");
  EXPECT_EQ(OnTerminal("echo PAGER; cat").output, "");
  Script("printf 'two\\033]0;x\\007\\n' > file.txt");
  EXPECT_THAT(OnTerminal("echo PAGER; cat").output,
              AllOf(HasSubstr("PAGER"), HasSubstr("\x1b[32m+two\\x1b]0;x\\x07\x1b[m")));
  EXPECT_THAT(OnTerminal("cat", "--stat").output, HasSubstr("1 file changed"));
}

TEST_F(MountDiff, IsRefusedWithWhatToDo) {
  MakeProject("one");
  Script("truncate -s 3M large");
  EXPECT_THAT(Fails({"diff", "--max-size", "1MiB"}),
              HasSubstr("large has more than 1048576 bytes (1 MiB) (--max-size)"));
  EXPECT_THAT(Succeeds({"diff", "--max-size", "4MiB", "--stat"}), HasSubstr("large"));
  Script("truncate -s 900G large");
  EXPECT_THAT(Fails({"diff"}), HasSubstr("large has more than"));
  Script("rm large; truncate -s 900G file.txt");
  EXPECT_THAT(Fails({"diff"}), HasSubstr("file.txt has more than"));
  Script("rm file.txt; mkfifo file.txt");
  EXPECT_THAT(Fails({"diff"}), HasSubstr("file.txt is no regular file"));
  Script("rm file.txt; git checkout -q .; mkdir -p a/b; echo > a/b/c; mkfifo a/.gitattributes");
  EXPECT_THAT(Fails({"diff"}), HasSubstr("a/.gitattributes is no regular file"));
  Script("rm -rf .git");
  EXPECT_THAT(Fails({"diff"}), HasSubstr(project + " is not in a git repository: git init"));
  Script("git init -q");
  EXPECT_THAT(Fails({"diff"}), HasSubstr(project + " has no commit that can be read"));
  Script("rm .git/HEAD; mkfifo .git/HEAD");
  EXPECT_THAT(Fails({"diff"}), HasSubstr("has no commit that can be read"));
}

TEST_F(MountDiff, ChangesNothingInTheProject) {
  MakeProject("one");
  Script("echo two > file.txt; echo > new");
  const auto state = [&] {
    std::map<std::string, fs::file_time_type> times;
    for (const auto& entry : fs::recursive_directory_iterator(project)) {
      times[entry.path().string()] = entry.last_write_time();
    }
    return times;
  };
  const auto before = state();
  EXPECT_THAT(Succeeds({"diff"}), HasSubstr("+two"));
  Succeeds({"changes", "--accept"});
  EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
  EXPECT_EQ(state(), before);
}

}  // namespace
}  // namespace integration
