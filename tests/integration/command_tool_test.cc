// run_shell_command through the real binary and a real sshd.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

#include "integration/command_fixture.h"
#include "integration/fixture.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RunShellCommand : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}});
  }
  json Run(const std::vector<std::string>& command) {
    return Call("run_shell_command", {{"command", command}, {"directory", root}});
  }
  /// Whether a login shell can run one command after another, for which it needs /proc.
  static bool HasResidentShells() { return fs::exists("/proc/self/fd"); }
  const std::string root = Path("root").string();
};

TEST_F(RunShellCommand, KeepsStandardOutputAndErrorApart) {
  const json result = Run({"sh", "-c", "echo out; echo err >&2"});
  EXPECT_EQ(result.value("stdout", ""), "out\n");
  EXPECT_EQ(result.value("stderr", ""), "err\n");
  EXPECT_EQ(result.value("exit_code", -1), 0);
  EXPECT_FALSE(result.contains("error"));
}

TEST_F(RunShellCommand, ExitCodeIsANormalResult) {
  const json result = Run({"sh", "-c", "exit 7"});
  EXPECT_EQ(result.value("exit_code", -1), 7);
  EXPECT_EQ(result.value("error", ""), "exit status 7");
}

TEST_F(RunShellCommand, ArgumentsArriveAsGiven) {
  const std::vector<std::string> hostile = {"a b",  "it's",  "\"q\"",      "$HOME",
                                            "`id`", "$(id)", "; exit 9",   "*",
                                            "",     "-n",    "two\nlines", "back\\slash"};
  std::vector<std::string> command = {"printf", "<%s>"};
  command.insert(command.end(), hostile.begin(), hostile.end());
  std::string expected;
  for (const std::string& argument : hostile) expected += "<" + argument + ">";
  EXPECT_EQ(Run(command).value("stdout", ""), expected);
}

TEST_F(RunShellCommand, LeadingAssignmentsAreEnvironment) {
  EXPECT_EQ(Run({"GREETING=it's me", "sh", "-c", "printf %s \"$GREETING\""}).value("stdout", ""),
            "it's me");
}

TEST_F(RunShellCommand, HasNoTerminalAndNoInput) {
  EXPECT_EQ(Run({"cat"}).value("stdout", "?"), "");
  EXPECT_EQ(Run({"sh", "-c", "test -t 1 || test -t 0 || echo none"}).value("stdout", ""), "none\n");
}

TEST_F(RunShellCommand, CommandsOfOneDirectoryRunInTheSameLoginShell) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  WriteProfiles({".bash_profile"}, "echo login >>'" + Path("logins").string() + "'\n");
  Run({"true"});
  Run({"true"});
  EXPECT_EQ(ReadFile(Path("logins")), "login\n");
  MakeDirectory("root/other");
  Call("run_shell_command", {{"command", {"true"}}, {"directory", root + "/other"}});
  EXPECT_EQ(ReadFile(Path("logins")), "login\nlogin\n");
}

TEST_F(RunShellCommand, NothingIsStartedInTheGuestBehindACommand) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  const auto processes = [&] {
    std::set<pid_t> ids;
    for (const auto& process : testing_support::GuestProcesses(Instance())) ids.insert(process.pid);
    return ids;
  };
  Run({"true"});
  const std::set<pid_t> behind_the_first = processes();
  for (int i = 0; i < 3; ++i) Run({"true"});
  EXPECT_EQ(processes(), behind_the_first);
}

TEST_F(RunShellCommand, ReadsAProfileThatAnotherToolHasChanged) {
  if (!HasResidentShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  WriteProfiles({".profile"}, "export EDITED=1\n");
  const std::string home = (Instance().directory() / "guest-home").string();
  Serve({.arguments = {"default", "--allow-path", home + ":w"}});
  const std::vector<std::string> print = {"printenv", "EDITED"};
  EXPECT_EQ(Run(print).value("stdout", ""), "1\n");
  Write(home + "/.profile", "export EDITED=2\n");
  EXPECT_EQ(Run(print).value("stdout", ""), "2\n");
  Write(home + "/.bash_profile", "export EDITED=3\n");  // bash reads it in place of the other
  EXPECT_EQ(Run(print).value("stdout", ""), "3\n");
  fs::remove(home + "/.bash_profile");
  EXPECT_EQ(Run(print).value("stdout", ""), "2\n");
}

TEST_F(RunShellCommand, EmptyCommandIsAnErrorThatRunsNothing) {
  Refusal("run_shell_command", {{"command", json::array()}, {"directory", root}});
}

TEST_F(RunShellCommand, OneWordWithSpacesIsExplained) {
  const json result = Run({"echo one two"});
  EXPECT_EQ(result.value("exit_code", -1), 127);
  EXPECT_THAT(result.value("error", ""),
              AllOf(HasSubstr("exit status 127"), HasSubstr("bash"), HasSubstr("-c")));
}

TEST_F(RunShellCommand, DeathBySignalIsNamed) {
  const json result = Run({"sh", "-c", "kill -TERM $$"});
  EXPECT_EQ(result.value("exit_code", -1), 128 + SIGTERM);
  EXPECT_THAT(result.value("error", ""), HasSubstr("signal: TERM"));
}

TEST_F(RunShellCommand, ReturnsWhenTheMainProcessEndsThoughAChildKeepsTheOutput) {
  const auto start = std::chrono::steady_clock::now();
  const json result = Run({"sh", "-c", "sleep 30 & echo $!"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  const pid_t child = std::stoi(result.value("stdout", "0"));
  ASSERT_GT(child, 1);
  EXPECT_EQ(::kill(child, 0), 0) << "the background child lives on";
  ::kill(child, SIGKILL);
}

TEST_F(RunShellCommand, DescriptionNeverReachesAShell) {
  Call("run_shell_command", {{"command", {"true"}},
                             {"directory", root},
                             {"description", "harmless\ntouch pwned\n$(touch pwned)"}});
  EXPECT_FALSE(fs::exists(Path("root/pwned")));
}

TEST_F(RunShellCommand, OutputThatIsNotUtf8IsStillValidJson) {
  const json result = Run({"printf", R"(a\377b\033[2Jc)"});
  EXPECT_EQ(result.value("stdout", ""), "a\uFFFDb\x1b[2Jc");
}

TEST_F(RunShellCommand, EndlessOutputIsBoundedAndItsCutIsTold) {
  const json result = Run({"sh", "-c", "yes | head -c 3000000"});
  const std::string output = result.value("stdout", "");
  EXPECT_LT(output.size(), std::size_t{300} * 1024);
  EXPECT_GT(output.size(), std::size_t{200} * 1024);
  EXPECT_THAT(output, HasSubstr(" bytes left out"));
}

TEST_F(RunShellCommand, LongCommandDoesNotDelayAnotherCall) {
  MakeFile("root/a.txt", "text");
  ASSERT_EQ(::mkfifo(Path("root/gate").c_str(), 0600), 0);
  const std::int64_t waiting = client().SendRequest(
      "tools/call", {{"name", "run_shell_command"},
                     {"arguments", {{"command", {"cat", "gate"}}, {"directory", root}}}});
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(Run({"echo", "beside"}).value("stdout", ""), "beside\n");
  std::ofstream(Path("root/gate")) << "opened";  // opening waits for the reader
  EXPECT_THAT(client().WaitForResponse(waiting).dump(), HasSubstr("opened"));
}

TEST_F(RunShellCommand, CancelEndsAllProcessGroupsOfTheCommand) {
  const std::string script = "echo $$ >pid.new; mv pid.new pid; sleep 300 & sleep 300; true";
  const std::vector<std::string> in_its_own_group = {"bash", "-c", "set -m; sh -c \"$0\" & wait",
                                                     script};
  const std::int64_t id = client().SendRequest(
      "tools/call", {{"name", "run_shell_command"},
                     {"arguments", {{"command", in_its_own_group}, {"directory", root}}}});
  while (!fs::exists(Path("root/pid"))) Call("list_directory", {{"path", root}});
  const long group = std::stol(ReadFile(Path("root/pid")));
  EXPECT_TRUE(GroupLives(group));
  client().SendNotification("notifications/cancelled", {{"requestId", id}});
  EXPECT_LT(TimeUntilGroupEnds(group), std::chrono::seconds(10)) << "the command still runs";
}

}  // namespace
}  // namespace integration
