#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {
namespace {

/// Host and guest are this machine, so the copy is in another directory.
class CopyCommands : public IntegrationTest {
 protected:
  CopyCommands() {
    LoopbackInstance::Options options;
    options.name = "agent";
    StartInstance(std::move(options));
    MakeFile("project/committed.txt", "one\n");
    MakeFile("project/.gitignore", "ignored\n");
    Git({"init", "-q", "-b", "main"});
    Commit("first");
  }

  std::string GitIn(const std::string& directory, Command arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Ann", "-c", "user.email=a@b"});
    ChildProcess::Options options;
    options.arguments = std::move(arguments);
    options.working_directory = directory;
    options.environment = {{"HOME", Path().string()}};
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.output;
  }
  std::string Git(Command arguments) { return GitIn(project, std::move(arguments)); }
  std::string InCopy(Command arguments) { return GitIn(copy, std::move(arguments)); }
  void Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-q", "-m", message});
  }

  /// `limactl mcp` in the project.
  ProcessResult Mcp(const Command& arguments) {
    ChildProcess::Options options = ServerOptions(arguments);
    options.working_directory = project;
    return RunProcess(options);
  }
  std::string Succeeds(const Command& arguments) {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.output;
  }
  /// Fails with one line.
  std::string Fails(const Command& arguments) {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(LinesOf(result.error).size(), 1U) << result.error;
    return result.error;
  }
  void MakeCopy() { Succeeds({"copy", "--copy-dir", copy}); }

  const std::string project = Path("project").string();
  const std::string copy = Path("guest/copy").string();
};

TEST_F(CopyCommands, MakesACopyOfTheWorkingTree) {
  MakeFile("project/committed.txt", "two\n");
  MakeFile("project/untracked.txt", "new\n");
  MakeFile("project/ignored", "secret\n");
  const std::string output = Succeeds({"copy", "--copy-dir", copy});
  EXPECT_EQ(output, "limactl mcp serve agent --copy " + project + "\n");
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "two\n");
  EXPECT_EQ(ReadFile(copy + "/untracked.txt"), "new\n");
  EXPECT_FALSE(fs::exists(copy + "/ignored"));
  EXPECT_EQ(InCopy({"status", "--porcelain"}), " M committed.txt\n?? untracked.txt\n");
  EXPECT_EQ(InCopy({"log", "--format=%s %D"}), "first HEAD -> main\n");
}

TEST_F(CopyCommands, ShowWhatWasChanged) {
  MakeCopy();
  EXPECT_EQ(Succeeds({"diff"}), "");
  MakeFile("guest/copy/committed.txt", "two\n");
  MakeFile("guest/copy/added.txt", "new\n");
  const std::string patch = Succeeds({"diff"});
  EXPECT_THAT(patch, HasSubstr("-one\n+two\n"));
  EXPECT_THAT(patch, HasSubstr("+++ b/added.txt\n"));
  EXPECT_THAT(Succeeds({"diff", "--stat"}), HasSubstr("2 files changed"));
}

TEST_F(CopyCommands, TakeTheWorkAsABranch) {
  MakeCopy();
  EXPECT_EQ(Succeeds({"take"}), "Nothing to take.\n");
  MakeFile("guest/copy/committed.txt", "two\n");
  InCopy({"commit", "-q", "-a", "-m", "by the agent"});
  MakeFile("guest/copy/added.txt", "new\n");
  EXPECT_EQ(Succeeds({"take"}), "Branch agent/main: 2 commits, 2 files changed.\n");
  EXPECT_EQ(Git({"log", "--format=%s", "agent/main"}), "Uncommitted work\nby the agent\nfirst\n");
  EXPECT_EQ(Git({"show", "agent/main:added.txt"}), "new\n");
  EXPECT_EQ(Git({"status", "--porcelain"}), "");
  EXPECT_EQ(Succeeds({"take"}), "Branch agent/main has it already.\n");

  MakeFile("guest/copy/added.txt", "newer\n");
  EXPECT_THAT(Succeeds({"take"}), StartsWith("Branch agent/main: "));
  EXPECT_EQ(Git({"show", "agent/main:added.txt"}), "newer\n");
  EXPECT_EQ(Git({"branch", "--format=%(refname:short)"}), "agent/main\nmain\n");
}

TEST_F(CopyCommands, ApplyTheWorkToADirtyWorkingTree) {
  MakeFile("project/committed.txt", "one\n1\n2\n3\n4\n5\n6\n7\n8\n");
  MakeFile("project/untracked.txt", "mine\n");
  MakeCopy();
  MakeFile("project/committed.txt", "mine\none\n1\n2\n3\n4\n5\n6\n7\n8\n");
  MakeFile("guest/copy/committed.txt", "one\n1\n2\n3\n4\n5\n6\n7\n8\nagent's\n");
  EXPECT_EQ(Succeeds({"take", "--apply"}), "1 file changed in the working tree.\n");
  EXPECT_EQ(ReadFile(project + "/committed.txt"), "mine\none\n1\n2\n3\n4\n5\n6\n7\n8\nagent's\n");
  EXPECT_EQ(Succeeds({"take", "--apply"}), "Nothing to take.\n");
  EXPECT_EQ(Git({"branch", "--format=%(refname:short)"}), "main\n");
}

TEST_F(CopyCommands, RefreshTheCopyOnceAllIsTaken) {
  MakeCopy();
  MakeFile("guest/copy/committed.txt", "agent's\n");
  MakeFile("project/committed.txt", "host's\n");
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("stays as it is: 1 file not taken"));
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "agent's\n");
  Succeeds({"take"});
  MakeFile("guest/copy/left.txt", "");
  Succeeds({"take"});
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("starts again"));
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "host's\n");
  EXPECT_FALSE(fs::exists(copy + "/left.txt"));
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("up to date"));
}

TEST_F(CopyCommands, DropTheCopyUnlessThereIsWork) {
  EXPECT_THAT(Fails({"drop"}), HasSubstr("There is no copy of " + project + " in agent"));
  MakeCopy();
  MakeFile("guest/copy/committed.txt", "agent's\n");
  EXPECT_THAT(Fails({"drop"}), HasSubstr("1 file were not taken: take, or --force."));
  EXPECT_EQ(Succeeds({"drop", "--force"}), "Dropped.\n");
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_THAT(Fails({"diff"}), HasSubstr("There is no copy"));
}

}  // namespace
}  // namespace integration
