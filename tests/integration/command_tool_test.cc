// run_shell_command through the real binary and a real sshd.

#include <gmock/gmock.h>

#include <set>

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
  /// A resident login shell needs /proc.
  static bool HasResidentShells() { return fs::exists("/proc/self/fd"); }
  const std::string root = Path("root").string();
};

TEST_F(RunShellCommand, ReturnsOutputErrorAndStatus) {
  EXPECT_EQ(Run({"sh", "-c", "echo out; echo err >&2"}),
            json({{"stdout", "out\n"}, {"stderr", "err\n"}, {"exit_code", 0}}));
  EXPECT_EQ(Run({"sh", "-c", "exit 7"}),
            json({{"stdout", ""}, {"stderr", ""}, {"exit_code", 7}, {"error", "exit status 7"}}));
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

TEST_F(RunShellCommand, OneWordWithSpacesIsExplained) {
  const json result = Run({"echo one two"});
  EXPECT_EQ(result.value("exit_code", -1), 127);
  EXPECT_THAT(result.value("error", ""),
              AllOf(HasSubstr("exit status 127"), HasSubstr("bash"), HasSubstr("-c")));
}

TEST_F(RunShellCommand, DescriptionNeverReachesAShell) {
  Call("run_shell_command", {{"command", {"true"}},
                             {"directory", root},
                             {"description", "harmless\ntouch pwned\n$(touch pwned)"}});
  EXPECT_FALSE(fs::exists(Path("root/pwned")));
}

}  // namespace
}  // namespace integration
