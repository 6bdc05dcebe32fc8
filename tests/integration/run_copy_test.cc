// `limactl mcp run`: where the agent works, and that it is a child like any other. Scripts stand in
// for the agents.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <string>

#include "integration/fixture.h"
#include "testing/sanitizers.h"

namespace integration {
namespace {

class RunCopy : public IntegrationTest {
 protected:
  RunCopy() {
    MakeFile("project/committed.txt", "one\n");
    MakeDirectory("home");
    const std::string git = "git -c user.name=Ann -c user.email=a@b -C " + project;
    RunProcess({.arguments = {"sh", "-c",
                              "git init -q -b main " + project + " && " + git + " add -A && " +
                                  git + " commit -q -m first"}});
  }

  void Start(const Mounts& mounts, const std::string& name = "agent") {
    LoopbackInstance::Options options;
    options.name = name;
    options.mounts = mounts;
    StartInstance(std::move(options));
  }

  /// Each agent is this script.
  void MakeAgents(const std::string& script) {
    for (const char* name : {"claude", "codex", "copilot", "gemini", "opencode"}) {
      MakeProgram(std::string("bin/") + name,
                  "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\n"
                  "[ \"$1\" != debug ] || { echo '{\"models\": []}'; exit 0; }\n" +
                      script);
    }
  }

  [[nodiscard]] ChildProcess::Options Options(Command arguments) const {
    arguments.insert(arguments.begin(), "run");
    ChildProcess::Options options = ServerOptions(arguments);
    options.environment["HOME"] = Path("home").string();
    options.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
    options.environment["XDG_STATE_HOME"] = std::nullopt;
    options.working_directory = project;
    return options;
  }
  [[nodiscard]] ProcessResult RunAgent(const Command& arguments) const {
    return RunProcess(Options(arguments));
  }
  [[nodiscard]] ProcessResult Mcp(const Command& arguments) const {
    ChildProcess::Options options = ServerOptions(arguments);
    options.working_directory = project;
    return RunProcess(options);
  }

  /// The options of the server in the settings of the session.
  [[nodiscard]] std::string ServerOptionsOfSession() const {
    return RunProcess({.arguments = {"grep", "-rhoE", "\"--[a-z].*", Path("home/.local").string()}})
        .output;
  }

  const std::string project = Path("project").string();
  const std::string copy = Path("guest/copy").string();
};

TEST_F(RunCopy, WorksInACopyAndSaysWhatThereIsToTake) {
  Start({});
  MakeAgents("echo agent > " + copy + "/committed.txt; exit 7");
  const ProcessResult first = RunAgent({"claude", "--copy-dir", copy});
  EXPECT_EQ(first.exit_code, 7);
  EXPECT_EQ(first.error, "Copied to agent:" + copy +
                             ".\n"
                             "1 file changed. See: limactl mcp diff. Take: limactl mcp take\n");
  EXPECT_EQ(ReadFile(project + "/committed.txt"), "one\n");
  EXPECT_EQ(ServerOptionsOfSession(), "\"--copy=" + project + "\"\n");

  EXPECT_THAT(RunAgent({"claude"}).error, AllOf(HasSubstr("stays as it is: 1 file not taken"),
                                                HasSubstr("\n1 file changed. See:")));
  EXPECT_EQ(Mcp({"take"}).exit_code, 0);
  MakeAgents("exit 0");
  const ProcessResult last = RunAgent({"claude"});
  EXPECT_EQ(last.exit_code, 0);
  EXPECT_THAT(last.error, AllOf(HasSubstr("starts again"), Not(HasSubstr("changed"))));
}

TEST_F(RunCopy, RefusesAnOldAgentBeforeItCopies) {
  Start({});
  MakeProgram("bin/claude", "echo 1.0.0\n");
  const ProcessResult result = RunAgent({"claude", "--copy-dir", copy});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, AllOf(HasSubstr("Claude Code 1.0.0"), Not(HasSubstr("Copied"))));
  EXPECT_FALSE(fs::exists(copy));
}

TEST_F(RunCopy, NamesAnotherInstanceInTheSummary) {
  Start({}, "other");
  MakeAgents("echo agent > " + copy + "/committed.txt");
  EXPECT_THAT(RunAgent({"claude", "other", "--copy-dir", copy}).error,
              HasSubstr("See: limactl mcp diff other. Take: limactl mcp take other\n"));
}

// Host and guest are one machine here, so the project itself is in the way of a copy.
TEST_F(RunCopy, ChoosesByTheMounts) {
  MakeDirectory("project/sub");
  MakeDirectory("elsewhere");
  const std::string in_copy = "exists in NAME and is no copy of ours";
  const std::map<std::string, std::pair<Mounts, std::string>> cases = {
      {"project", {{{project, "", true}}, ""}},
      {"above", {{{Path().string(), "", true}}, "the guest could change"}},
      {"nothing", {{}, in_copy}},
      {"elsewhere", {{{Path("elsewhere").string(), "", true}}, in_copy}},
      {"readonly", {{{project, "", false}}, "mounts " + project + " read-only. Work in a copy"}},
      {"part", {{{project + "/sub", "", true}}, "/sub, a part of the project. Work in a copy"}},
  };
  MakeAgents("exit 7");
  for (const auto& [name, expected] : cases) {
    Start(expected.first, name);
    std::string text = expected.second;
    if (text == in_copy) text.replace(text.find("NAME"), 4, name);
    for (const char* agent : {"claude", "codex", "copilot", "gemini", "opencode"}) {
      const ProcessResult result = RunAgent({agent, name});
      EXPECT_EQ(result.exit_code, text.empty() ? 7 : 1) << agent << " " << name << result.error;
      EXPECT_THAT(result.error, HasSubstr(text)) << agent;
    }
  }
  EXPECT_THAT(RunAgent({"claude", "readonly"}).error,
              AllOf(HasSubstr("limactl mcp run AGENT"), HasSubstr("\"agent\""),
                    HasSubstr("--copy-dir DIR")));
  EXPECT_EQ(RunAgent({"claude", "readonly", "--copy-dir", copy}).exit_code, 7);
  EXPECT_EQ(RunAgent({"claude", "readonly"}).exit_code, 7) << "--copy-dir is remembered";
  EXPECT_THAT(RunAgent({"claude", "nothing", "--root", project}).error, HasSubstr("--root is for"));
}

TEST_F(RunCopy, KeepsTheCopyWhileTheAgentRunsWhichHoldsNoLock) {
  Start({});
  MakeAgents("ls -l /proc/self/fd /dev/fd/; " + ServerProgram() + " drop --force --project " +
             project);
  const ProcessResult result = RunAgent({"claude", "--copy-dir", copy});
  EXPECT_THAT(result.output, Not(HasSubstr("mcp-copy")));
  EXPECT_THAT(result.error, HasSubstr("An agent works in this copy"));
  EXPECT_EQ(Mcp({"drop"}).exit_code, 0);
}

TEST_F(RunCopy, ReturnsTheAgentsExitCode) {
  Start({{project, "", true}});
  const std::map<std::string, int> cases = {
      {"exit 0", 0}, {"exit 255", 255}, {"kill -TERM $$", 143}, {"kill -KILL $$", 137}};
  for (const auto& [script, code] : cases) {
    MakeAgents(script);
    EXPECT_EQ(RunAgent({"claude"}).exit_code, code) << script;
  }
}

TEST_F(RunCopy, PassesSignalsOn) {
  if (testing_support::kThreadSanitizer) {
    GTEST_SKIP() << Skipping("ThreadSanitizer delays signals until waitpid(2) returns");
  }
  Start({{project, "", true}});
  const std::map<std::string, int> signals = {
      {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}};
  for (const auto& [name, number] : signals) {
    MakeAgents("trap 'exit 9' " + name + "; echo x > " + root + "/" + name +
               "; while :; do sleep 0.05; done");
    MakeDirectory("root");
    ChildProcess child(Options({"claude"}));
    Await(name);
    child.Signal(number);
    const auto status = child.Wait(20s);
    ASSERT_TRUE(status) << name;
    EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 9) << name << " " << *status;
  }
}

// As nohup, or a script's `&`, leaves them.
TEST_F(RunCopy, KeepsSignalsIgnored) {
  Start({{project, "", true}});
  MakeAgents("for name in HUP INT QUIT TERM TSTP; do kill -$name $$ $PPID; done; exit 7");
  ChildProcess::Options options = Options({"claude"});
  options.arguments = {"sh", "-c",
                       "trap '' HUP INT QUIT TERM TSTP; exec " + ServerProgram() + " run claude"};
  const ProcessResult result = RunProcess(options);
  EXPECT_EQ(result.exit_code, 7) << result.error;
}

TEST_F(RunCopy, StopsAndContinuesWithTheAgent) {
  Start({{project, "", true}});
  MakeAgents("kill -STOP $$; exit 5");
  ChildProcess child(Options({"claude"}));
  int status = 0;
  ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  child.Signal(SIGCONT);
  const auto end = child.Wait(20s);
  ASSERT_TRUE(end);
  EXPECT_TRUE(WIFEXITED(*end) && WEXITSTATUS(*end) == 5) << *end;
}

TEST_F(RunCopy, StartsAStoppedInstance) {
  Start({{project, "", true}});
  Instance().Stop();
  MakeAgents("exit 7");
  MakeProgram("bin/limactl", "echo \"$@\" > " + Path("log").string());
  const ProcessResult result = RunAgent({"claude"});
  EXPECT_EQ(result.exit_code, 7) << result.error;
  EXPECT_THAT(result.error, HasSubstr("being started with `limactl start agent`"));
  EXPECT_EQ(ReadFile(Path("log")), "start --tty=false agent\n");
}

TEST_F(RunCopy, OffersToCreateAgentAlone) {
  MakeAgents("exit 7");
  MakeProgram("bin/limactl", "echo \"$@\" >> " + Path("log").string());
  const std::string creation = "start --tty=false --name agent --mount-none ";
  for (const ProcessResult& result : {RunAgent({"claude"}), Mcp({"copy"})}) {
    EXPECT_THAT(result.error,
                AllOf(HasSubstr("no Lima instance \"agent\""), HasSubstr("limactl " + creation)));
  }
  EXPECT_THAT(RunAgent({"claude", "other"}).error,
              AllOf(HasSubstr("no Lima instance \"other\""), Not(HasSubstr("--mount-none"))));
  if (!Installed("script")) GTEST_SKIP() << Skipping("no script");
  const auto answer = [&](const std::string& text) {
    ChildProcess::Options options = Options({"claude"});
    options.arguments = {"script", "-qec", "exec " + ServerProgram() + " run claude", "/dev/null"};
    return RunProcess(options, text).output;
  };
  EXPECT_THAT(answer("n\n"), AllOf(HasSubstr("Create it now? [Y/n]"), HasSubstr("nothing was")));
  EXPECT_FALSE(fs::exists(Path("log")));
  answer("\n");
  EXPECT_THAT(ReadFile(Path("log")), AllOf(StartsWith(creation), HasSubstr("agent-sandbox")));
}

TEST_F(RunCopy, LeavesTheTerminalsSignalsToTheAgent) {
  if (!Installed("script")) GTEST_SKIP() << Skipping("no script");
  Start({{project, "", true}});
  MakeDirectory("root");
  MakeAgents("n=0; trap 'n=$((n + 1)); echo $n > " + root + "/signals' INT; echo x > " + root +
             "/ready; read line; exit $((n + 40))");
  ChildProcess::Options options = Options({"claude"});
  options.arguments = {"script", "-qec", "exec " + ServerProgram() + " run claude", "/dev/null"};
  ChildProcess child(options);
  Await("ready");
  ASSERT_EQ(::write(child.standard_input().get(), "\003", 1), 1);
  EXPECT_EQ(Await("signals"), "1\n");
  ASSERT_EQ(::write(child.standard_input().get(), "line\n", 5), 5);
  const auto end = child.Wait(20s);
  ASSERT_TRUE(end);
  EXPECT_EQ(WEXITSTATUS(*end), 41);
}

}  // namespace
}  // namespace integration
