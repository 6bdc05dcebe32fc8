// What `limactl mcp run` says of changes on a mount. Scripts stand in for the agents, which write
// what a guest would.

#include "integration/mount_fixture.h"

namespace integration {
namespace {

class RunOnMount : public MountTest {
 protected:
  RunOnMount() { MakeProject("one"); }

  void Start(const std::string& name) {
    LoopbackInstance::Options options;
    options.name = name;
    options.mounts = {{project, "", true}};
    StartInstance(std::move(options));
  }

  /// What `run` says with this agent, which must exit with 7.
  std::string RunAgent(const std::string& script, const Command& arguments = {}) {
    MakeProgram("bin/claude", "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\ncd " + project +
                                  "\n" + script + "\nexit 7");
    Command words = {"run", "claude"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ChildProcess::Options options = McpOptions(words);
    options.environment["PATH"] = search_path_ + Path("bin").string() + ":/usr/bin:/bin";
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 7) << result.error;
    EXPECT_FALSE(TrapWasRun());
    return result.error;
  }

  std::string search_path_;
  const std::string kRows =
      "Programs of this host run or obey:\n  .envrc: direnv: a shell script\n";
  const std::string kLimits =
      "Source code is not judged, and the guest can change more while the VM runs.\n";
  std::string Footer(const std::string& instance = "") {
    return "Changed in " + project + " since the baseline. See: limactl mcp diff" + instance +
           ". Accept: limactl mcp changes --accept" + instance + "\n" + kLimits;
  }
};

TEST_F(RunOnMount, SaysAtItsEndWhatWasChangedSinceTheBaseline) {
  Start("agent");
  Script("echo > package.json");
  EXPECT_EQ(RunAgent("echo two > file.txt; git -c user.name=a -c user.email=b commit -qam two"),
            "");
  EXPECT_EQ(RunAgent("echo > .envrc"), kRows + Footer());
  EXPECT_EQ(RunAgent(""), kRows + Footer()) << "it was not accepted";
  EXPECT_EQ(Mcp({"changes"}).exit_code, 1);
  Succeeds({"changes", "--accept"});
  EXPECT_EQ(RunAgent(""), "");
  EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
  EXPECT_EQ(RunAgent("rm .envrc; git config core.fsmonitor " + Path("trap").string()),
            "Programs of this host run or obey:\n  .envrc (deleted): direnv: a shell script\n"
            "  .git/config (core.fsmonitor): git: its value is a shell command\n" +
                Footer());
}

TEST_F(RunOnMount, SaysAtItsStartWhatWasChangedMeanwhile) {
  Start("agent");
  EXPECT_EQ(RunAgent(""), "");
  Script("echo > .envrc");
  EXPECT_EQ(RunAgent("rm .envrc"), kRows + Footer()) << "only at the start";
  EXPECT_EQ(RunAgent("echo > .envrc"), kRows + Footer()) << "only at the end";
  EXPECT_EQ(RunAgent("rm .envrc"), "") << "seen at the end of the last session";
  Script("echo two > file.txt");
  EXPECT_EQ(RunAgent(""), "");
}

TEST_F(RunOnMount, KeepsWhatWasAcceptedMeanwhile) {
  Start("agent");
  EXPECT_EQ(RunAgent(""), "");
  EXPECT_EQ(RunAgent("echo > .envrc; LIMA_HOME=" + LimaHome().string() + " " + ServerProgram() +
                     " changes --accept >/dev/null"),
            "");
  EXPECT_EQ(Mcp({"changes"}).exit_code, 0);
}

TEST_F(RunOnMount, KeepsABaselineForEachInstance) {
  Start("agent");
  Start("mounted");
  EXPECT_EQ(RunAgent("", {"mounted"}), "");
  EXPECT_EQ(RunAgent("echo > .envrc", {"mounted"}), kRows + Footer(" mounted"));
  EXPECT_EQ(RunAgent(""), "") << "the first of this instance";
  EXPECT_THAT(Fails({"changes", "missing"}), HasSubstr("missing"));
}

TEST_F(RunOnMount, StartsNoGitThatTheGuestCanWrite) {
  Start("agent");
  search_path_ = project + "/tools:";
  Script("mkdir tools; cp $trap tools/git");
  EXPECT_EQ(RunAgent(""), "");
  EXPECT_THAT(RunAgent("echo >> tools/git"),
              HasSubstr("  tools/git (PATH): shells: your PATH has the directory\n"));
}

TEST_F(RunOnMount, TakesNoBaselineOfWhatItRefuses) {
  Start("agent");
  MakeProgram("bin/claude", "echo 1.0.0");
  ChildProcess::Options options = McpOptions({"run", "claude"});
  options.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
  EXPECT_EQ(RunProcess(options).exit_code, 1);
  EXPECT_THAT(Fails({"changes"}), HasSubstr("there is no baseline"));
}

TEST_F(RunOnMount, ReturnsTheAgentsExitCodeIfTheBaselineCannotBeWritten) {
  Start("agent");
  EXPECT_EQ(RunAgent(""), "");
  const std::string directory = Path("lima/agent/mcp-copy").string();
  EXPECT_THAT(RunAgent("rm -r " + directory + "; echo > " + directory),
              AllOf(HasSubstr("WARN"), HasSubstr("mcp-copy")));
}

}  // namespace
}  // namespace integration
