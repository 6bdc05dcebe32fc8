// run_shell_command through the real binary and a real sshd.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "integration/fixture.h"
#include "testing/eventually.h"

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
  /// Whether the program starts login shells ahead of commands, for which it needs /proc.
  static bool HasWarmShells() { return fs::exists("/proc/self/fd"); }
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

TEST_F(RunShellCommand, NextLoginShellIsStartedAfterACommand) {
  if (!HasWarmShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  MakeFile("lima/default/guest-home/.bash_profile",
           "echo login >>" + Path("logins").string() + "\n");
  Run({"true"});
  EXPECT_TRUE(testing_support::Eventually(
      [&] { return ReadFile(Path("logins")) == "login\nlogin\n"; }, std::chrono::seconds(30)))
      << ReadFile(Path("logins"));
}

TEST_F(RunShellCommand, ReadsAProfileThatAnotherToolHasChanged) {
  if (!HasWarmShells()) GTEST_SKIP() << Skipping("this machine has no /proc");
  MakeFile("lima/default/guest-home/.bash_profile",
           ". '" + root + "/settings'; echo login >>'" + Path("logins").string() + "'\n");
  MakeFile("root/settings", "export EDITED=1\n");
  EXPECT_EQ(Run({"printenv", "EDITED"}).value("stdout", ""), "1\n");
  ASSERT_TRUE(testing_support::Eventually(
      [&] { return ReadFile(Path("logins")) == "login\nlogin\n"; }, std::chrono::seconds(30)))
      << "the shell for the next command has read the old one";
  Call("write_file", {{"path", root + "/settings"}, {"content", "export EDITED=2\n"}});
  EXPECT_EQ(Run({"printenv", "EDITED"}).value("stdout", ""), "2\n");
}

TEST_F(RunShellCommand, NoLoginShellIsStartedBeforehandWhereThatIsSwitchedOff) {
  MakeFile("lima/default/guest-home/.bash_profile",
           "echo login >>" + Path("logins").string() + "\n");
  Serve({.arguments = {"default", "--no-warm-shells"}});
  Run({"true"});
  Run({"true"});
  EXPECT_EQ(ReadFile(Path("logins")), "login\nlogin\n");
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

TEST_F(RunShellCommand, CancelEndsTheWholeProcessGroup) {
  const std::string script = "echo $$ > pid.new; mv pid.new pid; sleep 300 & sleep 300; true";
  const std::int64_t id = client().SendRequest(
      "tools/call", {{"name", "run_shell_command"},
                     {"arguments", {{"command", {"sh", "-c", script}}, {"directory", root}}}});
  while (!fs::exists(Path("root/pid"))) Call("list_directory", {{"path", root}});
  const pid_t group = std::stoi(ReadFile(Path("root/pid")));
  client().SendNotification("notifications/cancelled", {{"requestId", id}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (::kill(group, 0) == 0 && std::chrono::steady_clock::now() < deadline)
    client().Request("ping");
  EXPECT_NE(::kill(group, 0), 0) << "the command still runs";
}

}  // namespace
}  // namespace integration
