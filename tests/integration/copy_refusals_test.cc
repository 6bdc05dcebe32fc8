// What copy, diff, take and drop refuse, and what they do to branches and to the working tree.

#include "integration/copy_fixture.h"

namespace integration {
namespace {

struct Mistake {
  std::string name;
  std::string script;
  std::string text;
  std::string below = {};  ///< of the copy's directory
};

const std::vector<Mistake> kMistakes = {
    {"no repository", "mkdir project",
     "project is not in a git repository: git init, and commit once."},
    {"no commit", "git init -q project", "There is no commit yet: git add -A && git commit."},
    {"bare repository", "git init -q --bare project",
     "project is a bare repository: it has no files."},
    {"filter that fails", R"sh(
      base project; git config filter.x.clean false; git config filter.x.required true
      echo '* filter=x' > .gitattributes)sh",
     "git cannot read the working tree: "},
    {"partial clone without files", R"sh(
      base origin; git config uploadpack.allowFilter true; cd ..
      git clone -q --sparse --filter=blob:none "file://$PWD/origin" project; rm -rf origin)sh",
     "This is a partial clone without some files of HEAD: git sparse-checkout disable"},
    {"directory with files", "base project; cd ..; mkdir \"$PWD-copy\"; echo x > \"$PWD-copy/x\"",
     "exists in agent and is no copy of ours. Move it away, or --copy-dir DIR."},
    {"file", "base project; cd ..; echo x > \"$PWD-copy\"",
     "exists in agent and is no copy of ours."},
    {"link", "base project; cd ..; ln -s /nowhere \"$PWD-copy\"",
     "exists in agent and is no copy of ours."},
    {"directory that cannot be made", "base project; cd ..; echo x > \"$PWD-copy\"",
     "cannot be made in agent", "/below"},
};

using Commands = CopyTest;

TEST_F(Commands, RefuseWhatCannotBeCopied) {
  StartAgent();
  int number = 0;
  for (const Mistake& mistake : kMistakes) {
    SCOPED_TRACE(mistake.name);
    MakeProject(std::to_string(++number), mistake.script);
    const Snapshot before = SnapshotOf(project.parent_path());
    EXPECT_THAT(Fail({"copy", "--copy-dir", copy.string() + mistake.below}),
                HasSubstr(mistake.text));
    EXPECT_THAT(Changes(before, SnapshotOf(project.parent_path())), IsEmpty());
  }
}

TEST_F(Commands, RefuseTheCopyOfAnotherProject) {
  StartAgent();
  MakeProject("first");
  SendCopy();
  const fs::path directory = copy;
  MakeProject("second");
  EXPECT_THAT(Fail({"copy", "--copy-dir", directory}), HasSubstr("another project"));
  EXPECT_THAT(Fail({"take"}), HasSubstr("limactl mcp copy"));
}

TEST_F(Commands, RefuseAMountedDirectory) {
  MakeProject("p");
  LoopbackInstance::Options options;
  options.name = "agent";
  options.mounts = {{Path("p").string(), "", false}};
  StartInstance(options);
  EXPECT_THAT(Fail({"copy"}),
              HasSubstr("agent mounts " + Path("p").string() + ": the guest would see both."));
}

TEST_F(Commands, RefuseAnOldGit) {
  StartAgent();
  MakeProject("p");
  MakeProgram("host-bin/git", "echo git version 2.33.8");
  EXPECT_THAT(Fail({"copy", "--copy-dir", copy}),
              HasSubstr("is needed here (found git version 2.33.8)"));
  fs::remove(Path("host-bin/git"));
  MakeProgram("guest-bin/git", "echo git version 2.29.3");
  EXPECT_THAT(Fail({"copy", "--copy-dir", copy}), HasSubstr("in the guest"));
}

TEST_F(Commands, SayThatTheGuestIsFull) {
  StartAgent();
  MakeProject("p");
  MakeProgram("guest-bin/df", "printf 'Filesystem blocks used free\\n/dev/vda 9 9 1000\\n'");
  EXPECT_THAT(Fail({"copy", "--copy-dir", copy}),
              HasSubstr("agent has no space left (1 MB needed)"));
  fs::remove(Path("guest-bin/df"));
  SendCopy();
  EXPECT_EQ(FilesOf(copy), FilesOf(project));
}

TEST_F(Commands, SayThatTheConnectionWasLost) {
  StartAgent();
  MakeProject("p");
  MakeProgram("guest-bin/git", R"sh(PATH=${PATH#*:}
    [ "$1" = read-tree ] || exec git "$@"
    at=$$
    while case $(ps -o comm= -p $at) in *sshd*) false ;; esac; do at=$(ps -o ppid= -p $at | tr -d ' '); done
    kill -9 $at)sh");
  EXPECT_THAT(Fail({"copy", "--copy-dir", copy}),
              AllOf(HasSubstr("The connection to agent was lost"), Not(HasSubstr("nothing was"))));
  fs::remove(Path("guest-bin/git"));
  EXPECT_THAT(Fail({"take"}), HasSubstr("limactl mcp copy agent"));
  SendCopy();
  EXPECT_EQ(FilesOf(copy), FilesOf(project));
}

TEST_F(Commands, WorkFromASubdirectoryWithVariablesOfGit) {
  StartAgent();
  MakeProject("p", "base project; echo more >> file.txt");
  ChildProcess::Options options = CommandOptions({"copy", "--copy-dir", copy});
  options.working_directory = project / "dir";
  for (const char* name : {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY"}) {
    options.environment[name] = "/nowhere";
  }
  const ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(FilesOf(copy), FilesOf(project));
}

TEST_F(Commands, SayWhenThereIsNothingToDo) {
  StartAgent();
  MakeProject("p", "base project; echo dirty >> file.txt");
  EXPECT_THAT(Fail({"take"}), HasSubstr("limactl mcp copy"));
  SendCopy();
  EXPECT_EQ(Succeed({"diff"}).output, "");
  EXPECT_THAT(Succeed({"take"}).output, HasSubstr("othing to take"));
  EXPECT_EQ(InProject("git branch --format='%(refname:short)'"), "main");
  fs::remove_all(copy);
  EXPECT_THAT(Fail({"take"}), HasSubstr("gone"));
  SendCopy();
  EXPECT_EQ(FilesOf(copy), FilesOf(project));
  Succeed({"drop"});
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_EQ(Shell(LimaHome(), "find agent -name '*.git'"), "");
}

TEST_F(Commands, TakeMovesOnlyItsOwnBranch) {
  StartAgent();
  MakeProject("p", "base project; echo dirty >> dir/inner.txt");
  SendCopy();
  InCopy("echo one >> file.txt");
  EXPECT_THAT(Succeed({"take"}).error, HasSubstr("limactl mcp diff agent | git apply"));
  EXPECT_EQ(InProject("git rev-list --count main..agent/main"), "2") << "the first is the user's";
  InCopy("git commit -qam 'The same, committed'; echo two >> file.txt");
  Succeed({"take"});
  EXPECT_EQ(InProject("git branch --format='%(refname:short)'"), "agent/main\nmain");
  EXPECT_EQ(InProject("git rev-list --count main..agent/main"), "2");
  InProject(
      "git branch -qf agent/main main~0; git switch -q agent/main; git commit -qm mine "
      "--allow-empty; git switch -q main");
  Succeed({"take"});
  EXPECT_EQ(InProject("git log -1 --format=%s agent/main"), "mine");
  EXPECT_EQ(FilesOfCommit("agent/main-2"), FilesOf(copy));
  InProject("git branch -qm agent/main agent-main; git branch -qD agent/main-2; git branch agent");
  InCopy("echo three >> file.txt");
  EXPECT_THAT(Fail({"take"}),
              HasSubstr("A branch \"agent\" is in the way of \"agent/main\": --branch NAME."));
  Fail({"take", "--branch", "a..b"});
  Succeed({"take", "--branch", "elsewhere"});
  EXPECT_EQ(FilesOfCommit("elsewhere"), FilesOf(copy));
}

TEST_F(Commands, ApplyAllOfThePatchOrNothing) {
  StartAgent();
  MakeProject("p", "base project; echo dirty >> dir/inner.txt");
  SendCopy();
  InCopy("echo agent >> file.txt; rm gone.txt; chmod +x tool.sh; printf 'a\\0b' > binary");
  const std::string git = "find .git -type f ! -path '*/objects/*' -exec cksum {} +";
  const std::string before = InProject(git);
  Succeed({"take", "--apply"});
  EXPECT_EQ(FilesOf(project), FilesOf(copy));
  EXPECT_EQ(InProject(git), before) << "no branch, and the index as it was";
  InCopy("echo more >> file.txt; echo more > new; mkdir .vscode; echo {} > .vscode/tasks.json");
  InProject("sed -i.bak s/agent/mine/ file.txt; rm file.txt.bak");
  const Files mine = FilesOf(project);
  EXPECT_THAT(Run({"take", "--apply"}).error, HasSubstr("--yes"));
  EXPECT_THAT(Run({"take", "--apply", "--yes"}).error, HasSubstr("file.txt"));
  EXPECT_EQ(FilesOf(project), mine);
  InProject("sed -i.bak s/mine/agent/ file.txt; rm file.txt.bak");
  Succeed({"take", "--apply", "--yes"});
  EXPECT_EQ(FilesOf(project), FilesOf(copy));
  Succeed({"drop"});
}

TEST_F(Commands, DropNothingThatWasNotTaken) {
  StartAgent();
  MakeProject("p");
  SendCopy();
  InCopy("git switch -qc other; git commit -q --allow-empty -m x; git switch -q main; echo x > x");
  EXPECT_THAT(Fail({"drop"}), AllOf(HasSubstr("not taken"), HasSubstr("--force")));
  Succeed({"take"});
  EXPECT_THAT(Fail({"drop"}), HasSubstr("other branch"));
  Succeed({"drop", "--force"});
  EXPECT_FALSE(fs::exists(copy));
}

// The report is not there yet.
TEST_F(Commands, SayWhatTheHostWouldRunInPrintableWords) {
  StartAgent();
  MakeProject("p", "base project; git config core.hooksPath .husky");
  SendCopy();
  InCopy(R"sh(
    echo x > .envrc; mkdir .husky; echo x > .husky/pre-push; ln -s /etc/hosts leads-out; chmod +x tool.sh
    echo a > readme; echo b > README; echo x > "$(printf 'a\033]0;x\007\nb')"
    git commit -qm "$(printf 'a\033]0;x\007')" --allow-empty)sh");
  for (const Command& words : {Command{"diff", "--stat"}, Command{"take"}}) {
    const ProcessResult result = Succeed(words);
    const std::string text = result.output + result.error;
    for (const char* name :
         {".envrc", ".husky/pre-push", "leads-out", "tool.sh", "README", "core.hooksPath"}) {
      EXPECT_THAT(text, HasSubstr(name));
    }
    EXPECT_TRUE(IsPrintable(text)) << text;
  }
}

}  // namespace
}  // namespace integration
