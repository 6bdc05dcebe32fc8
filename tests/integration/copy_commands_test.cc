#include <map>
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
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Ann", "-c", "user.email=a@b", "-c",
                                         "maintenance.auto=false"});
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
  const ProcessResult result = Mcp({"copy", "--copy-dir", copy});
  EXPECT_THAT(result.error, HasSubstr("1 ignored file or directory stays behind"));
  EXPECT_EQ(result.output, "limactl mcp serve agent --copy " + project + "\n");
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

TEST_F(CopyCommands, OpenThePagerOnlyForChanges) {
  if (!Installed("script")) GTEST_SKIP() << Skipping("no script");
  MakeCopy();
  const auto diff = [&] {
    ChildProcess::Options options = ServerOptions({});
    options.arguments = {"script", "-qec", "exec " + ServerProgram() + " diff", "/dev/null"};
    options.environment["PAGER"] = "echo PAGER; cat";
    options.working_directory = project;
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  };
  EXPECT_EQ(diff(), "");
  MakeFile("guest/copy/committed.txt", "two\n");
  EXPECT_THAT(diff(), AllOf(HasSubstr("PAGER"), HasSubstr("+two")));
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

TEST_F(CopyCommands, TakeTheWorkWithoutAUserInTheCopysSettings) {
  MakeCopy();
  InCopy({"config", "--remove-section", "user"});
  InCopy({"config", "user.useConfigOnly", "true"});
  MakeFile("guest/copy/committed.txt", "two\n");
  EXPECT_EQ(Succeeds({"take"}), "Branch agent/main: 1 commit, 1 file changed.\n");
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
  EXPECT_THAT(Fails({"drop"}), HasSubstr("1 file was not taken: take, or --force."));
  Succeeds({"take"});
  MakeFile("guest/copy/added.txt", "");
  EXPECT_THAT(Fails({"drop"}), HasSubstr("1 file was not taken: take, or --force."));
  EXPECT_EQ(Succeeds({"drop", "--force"}), "Dropped.\n");
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_THAT(Fails({"diff"}), HasSubstr("There is no copy"));
}

TEST_F(CopyCommands, AreListedByDoctorWithWhatWasNotTaken) {
  MakeCopy();
  EXPECT_THAT(Mcp({"doctor", "agent"}).output, HasSubstr("copies of " + project + " (all taken)"));
  MakeFile("guest/copy/committed.txt", "two\n");
  EXPECT_THAT(Mcp({"doctor", "agent"}).output,
              HasSubstr("copies of " + project + " (not taken: 1 file)"));
  MakeFile("lima/agent/ha.pid", "");
  EXPECT_THAT(Mcp({"doctor", "agent"}).output, HasSubstr("see connect. Copies: " + project));
}

TEST_F(CopyCommands, ChangeNothingInTheRepository) {
  MakeFile("project/committed.txt", "two\n");
  MakeFile("project/untracked.txt", "new\n");
  const auto state = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(project)) {
      if (entry.is_regular_file()) files[entry.path().string()] = ReadFile(entry.path());
    }
    return files;
  };
  const auto before = state();
  MakeCopy();
  MakeFile("guest/copy/committed.txt", "agent's\n");
  Succeeds({"diff"});
  EXPECT_EQ(state(), before);
}

TEST_F(CopyCommands, AreRefusedWithWhatToDo) {
  EXPECT_THAT(Fails({"copy"}),
              HasSubstr(project + " exists in agent and is no copy of ours. Move"));
  EXPECT_THAT(Fails({"copy", "--copy-dir", "relative"}), HasSubstr("expected an absolute"));
  EXPECT_THAT(Fails({"diff"}), HasSubstr(": limactl mcp copy agent"));
  EXPECT_THAT(Fails({"diff", "nothing"}), HasSubstr("nothing"));
  MakeCopy();
  EXPECT_THAT(Fails({"copy", "--copy-dir", Path("other")}), HasSubstr("drop it first"));
  EXPECT_THAT(Fails({"take", "--branch", "a..b"}), HasSubstr("cannot be the name of a branch"));
  Git({"branch", "agent"});
  EXPECT_THAT(Fails({"take"}), HasSubstr("\"agent\" is in the way of \"agent/main\""));
  MakeFile("guest/copy/large", std::string(100'000, 'x') + Git({"rev-parse", "HEAD"}));
  EXPECT_THAT(Fails({"diff", "--max-size", "100"}), HasSubstr("More than 100 bytes (--max-size)"));
  EXPECT_FALSE(fs::exists(LimaHome() / "agent/mcp-copy" / "incoming"));
}

TEST_F(CopyCommands, SayThatTheCopyIsGoneOrDamaged) {
  MakeCopy();
  fs::rename(copy + "/.git", copy + "/.away");
  EXPECT_THAT(Fails({"take"}),
              HasSubstr("The copy's .git is gone or damaged; its files are still"));
  EXPECT_THAT(Fails({"copy"}), HasSubstr("drop --force makes a new copy"));
  EXPECT_THAT(Fails({"drop"}), HasSubstr("gone or damaged"));
  fs::remove_all(copy);
  EXPECT_THAT(Fails({"take"}), HasSubstr("The copy is gone from agent:" + copy +
                                         ". Make it anew: limactl mcp copy agent"));
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("was gone"));
  EXPECT_EQ(Succeeds({"diff"}), "");
}

TEST_F(CopyCommands, SayWhatTheHostRunsOrObeys) {
  Git({"config", "core.hooksPath", ".husky"});
  MakeCopy();
  MakeFile("guest/copy/.envrc", "");
  MakeFile("guest/copy/.claude/settings.json", "");
  MakeFile("guest/copy/.husky/post-checkout", "");
  fs::create_symlink("/etc/hosts", copy + "/link");
  const auto says = [](const std::string& branch) {
    return AllOf(HasSubstr("  .envrc: direnv: "), HasSubstr("  .claude/settings.json: "),
                 HasSubstr("  link -> /etc/hosts\n"),
                 HasSubstr("git -c core.hooksPath=/dev/null switch " + branch + "\n"));
  };
  EXPECT_THAT(Mcp({"diff", "--stat"}).error, says("agent/main"));
  EXPECT_EQ(Mcp({"diff"}).error, "");
  Git({"branch", "agent/main"});
  Git({"switch", "-q", "agent/main"});
  EXPECT_THAT(Mcp({"take"}).error, says("agent/main-2"));
}

TEST_F(CopyCommands, AskBeforeTheyApplyWhatTheHostObeys) {
  MakeCopy();
  MakeFile("guest/copy/.envrc", "touch /tmp/pwned\n");
  EXPECT_THAT(Mcp({"take", "--apply"}).error, HasSubstr("obey 1 file of this change"));
  EXPECT_FALSE(fs::exists(project + "/.envrc"));
  Succeeds({"take", "--apply", "--yes"});
  EXPECT_TRUE(fs::exists(project + "/.envrc"));
}

TEST_F(CopyCommands, ServeTheCopyAsTheProject) {
  Serve({.arguments = {"agent", "--copy", project}});
  EXPECT_THAT(ReadRefusal(project + "/committed.txt"), HasSubstr("limactl mcp copy agent"));
  MakeCopy();
  EXPECT_EQ(Read(project + "/committed.txt"), "one\n");
  Write(project + "/committed.txt", "agent's\n");
  EXPECT_EQ(ReadFile(project + "/committed.txt"), "one\n");
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "agent's\n");
  EXPECT_THAT(WriteRefusal(project + "/.envrc"), HasSubstr(".envrc"));
  EXPECT_THAT(ReadRefusal("/etc/passwd"), HasSubstr("outside"));
  EXPECT_EQ(Call("run_shell_command", {{"command", {"pwd"}}, {"directory", project}}).at("stdout"),
            copy + "\n");
  EXPECT_THAT(Succeeds({"diff"}), HasSubstr("+agent's"));

  EXPECT_THAT(Fails({"drop", "--force"}), HasSubstr("An agent works in this copy"));
  Succeeds({"take"});
  MakeFile("project/committed.txt", "host's\n");
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("it is in use"));
  ForgetServer();
  EXPECT_THAT(Mcp({"copy"}).error, HasSubstr("starts again"));
  EXPECT_THAT(RunServer({"serve", "agent", "--copy", project, "--root", project}).error,
              HasSubstr("exclude each other"));
}

TEST_F(CopyCommands, ServeTheCopyWithEveryOtherOption) {
  MakeCopy();
  for (const std::string& option :
       {"--allow-path=" + Path("extra").string() + ":w", std::string("--allow-settings"),
        std::string("--command-timeout=1m"), std::string("--max-output=1KiB"),
        std::string("--results=text"), "--audit=" + Path("audit.jsonl").string(),
        std::string("--start")}) {
    SCOPED_TRACE(option);
    MakeDirectory("extra");
    auto& client = Serve({.arguments = {"agent", "--copy", project, option}});
    EXPECT_THAT(
        client.CallTool("read_file", {{"path", project + "/committed.txt"}}).at("content").dump(),
        HasSubstr("one"));
    EXPECT_THAT(ReadRefusal("/etc/passwd"), HasSubstr("outside"));
    const bool settings = option == "--allow-settings";
    const auto written =
        client.CallTool("write_file", {{"path", project + "/.envrc"}, {"content", "x"}});
    EXPECT_EQ(written.value("isError", false), !settings);
    const auto ran =
        client.CallTool("run_shell_command", {{"command", {"pwd"}}, {"directory", project}});
    EXPECT_THAT(ran.at("content").dump(), HasSubstr(copy));
    ForgetServer();
  }
}

TEST_F(CopyCommands, SurviveTheUsersGarbageCollection) {
  const auto forget = [&] {
    Git({"commit", "-q", "--amend", "-m", "amended"});
    Git({"reflog", "expire", "--expire=now", "--all"});
    Git({"gc", "-q", "--prune=now"});
  };
  MakeCopy();
  forget();
  MakeFile("guest/copy/committed.txt", "agent's\n");
  EXPECT_THAT(Succeeds({"diff"}), HasSubstr("+agent's"));
  Succeeds({"take"});
  EXPECT_EQ(Git({"show", "agent/main:committed.txt"}), "agent's\n");
  Git({"branch", "-D", "agent/main"});
  forget();
  Succeeds({"copy"});
  EXPECT_EQ(InCopy({"log", "--format=%s"}), "amended\n");
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "one\n");
}

// Neither side may be lost when this program is killed at any moment.
TEST_F(CopyCommands, AreRepeatedAfterAKill) {
  for (int file = 0; file < 300; ++file) {
    MakeFile("project/dir/" + std::to_string(file), std::to_string(file));
  }
  // Later and later, until nothing is left to kill.
  bool is_killed = true;
  for (int milliseconds = 20; milliseconds < 500 && is_killed; milliseconds += 40) {
    const auto kill_after = [&](const Command& arguments) {
      ChildProcess::Options options = ServerOptions(arguments);
      options.working_directory = project;
      ChildProcess child(options);
      return !child.Wait(std::chrono::milliseconds(milliseconds));
    };
    MakeFile("project/state", std::to_string(milliseconds));
    const bool is_copy_killed = kill_after({"copy", "--copy-dir", copy});
    MakeCopy();
    ASSERT_EQ(ReadFile(copy + "/state"), std::to_string(milliseconds));
    ASSERT_EQ(InCopy({"status", "--porcelain"}), "?? dir/\n?? state\n");
    MakeFile("guest/copy/work", std::to_string(milliseconds));
    const bool is_take_killed = kill_after({"take"});
    Succeeds({"take"});
    ASSERT_EQ(Git({"show", "agent/main:work"}), std::to_string(milliseconds));
    Git({"branch", "-D", "agent/main"});
    is_killed = is_copy_killed || is_take_killed;
  }
}

TEST_F(CopyCommands, GoOnAfterAnyThingThatAKilledOneLeft) {
  MakeFile("guest/copy/.git/limactl-mcp.next", "0123\n");
  MakeFile("guest/copy/.git/limactl-mcp", "");
  MakeCopy();
  MakeFile("guest/copy/.git/refs/heads/main.lock", "");
  MakeFile("guest/copy/.git/refs/limactl-mcp/sent.lock", "");
  MakeFile("project/committed.txt", "two\n");
  MakeCopy();
  EXPECT_EQ(ReadFile(copy + "/committed.txt"), "two\n");
}

}  // namespace
}  // namespace integration
