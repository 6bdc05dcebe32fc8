// `limactl mcp doctor` with one fault at a time in the guest: in its sshd, its shell, its programs
// and its mounts, and in the server that doctor starts.

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "integration/doctor_fixture.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::LoopbackInstance;

TEST_F(Doctor, NamesAnSshdThatRefusesTheConnection) {
  const LoopbackInstance& instance = Start();
  MakeFile("lima/default/qemu.pid", std::to_string(::getpid()) + "\n");
  ::kill(instance.sshd_pid(), SIGKILL);
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("connect", checks), HasSubstr("refused"));
  ExpectSkipped({"sftp", "shell", "git", "find", "mounted", "write", "round trip"}, "connect",
                checks);
}

TEST_F(Doctor, NamesAnSshdThatDoesNotTakeTheKey) {
  options_.sshd_options = {"AllowUsers nobody-of-this-name"};
  const LoopbackInstance& instance = Start();
  EXPECT_THAT(OnlyFailure("connect", Examine()), HasSubstr(instance.identity_file()));
}

TEST_F(Doctor, NamesAGuestThatDoesNotAnswerAndEndsAllTheSame) {
  const LoopbackInstance& instance = Start();
  testing_support::Freeze(instance);
  const json checks = Examine();
  testing_support::Thaw(instance);
  OnlyFailure("connect", checks);
}

TEST_F(Doctor, NamesAMissingSftpServer) {
  options_.sshd_options = {"Subsystem other /bin/true"};
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("sftp", checks), HasSubstr("no SFTP subsystem"));
  ExpectSkipped({"mounted", "write", "round trip"}, "sftp", checks);
}

TEST_F(Doctor, NamesALoginShellThatIsNotThere) {
  options_.lima_yaml = "user:\n  shell: /bin/no-such-shell\n";
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("shell", checks), HasSubstr("/bin/no-such-shell"));
  ExpectSkipped({"round trip"}, "shell", checks);
}

TEST_F(Doctor, NamesALoginProfileThatEndsTheShell) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "exit 3\n");
  EXPECT_THAT(OnlyFailure("shell", Examine()), HasSubstr("exit status 3"));
}

TEST_F(Doctor, WarnsOfALoginProfileThatPrints) {
  options_.lima_yaml = "user:\n  shell: /bin/sh\n";
  Start();
  WriteProfiles({".profile"}, "echo Welcome to your VM\n");
  EXPECT_THAT(OnlyWarning("shell", Examine()), HasSubstr("Welcome to your VM"));
}

TEST_F(Doctor, HasNothingAgainstAProfileWhosePrintsNoCommandShows) {
  if (!std::filesystem::exists("/proc/self/fd")) {
    GTEST_SKIP() << Skipping("this machine has no /proc, which resident shells need");
  }
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "echo Welcome to your VM\n");
  const json checks = Examine();
  EXPECT_EQ(checks.at("shell").at("result"), "passed") << checks.dump(2);
}

TEST_F(Doctor, WarnsOfALoginProfileThatIsSlow) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "sleep 4\n");
  slow_shell_counts_ = true;
  EXPECT_THAT(OnlyWarning("shell", Examine()), HasSubstr("/bin/bash takes "));
}

TEST_F(Doctor, WarnsOfAMissingGit) {
  LeaveOutOfGuest("git");
  Start();
  EXPECT_THAT(OnlyWarning("git", Examine()), HasSubstr("install git"));
}

TEST_F(Doctor, WarnsOfAMissingFind) {
  LeaveOutOfGuest("find");
  Start();
  EXPECT_THAT(OnlyWarning("find", Examine()), HasSubstr("install findutils"));
}

TEST_F(Doctor, DoesNotTryToWriteWhereTheMountsCannotBeKnown) {
  options_.mounts.push_back({MakeDirectory("other"), "{{.Home}}/other", true});
  options_.sshd_options.push_back("ForceCommand HOME= exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"");
  Start();
  const json checks = Examine();
  EXPECT_EQ(checks.at("sftp").at("result"), "passed") << checks.dump(2);
  EXPECT_EQ(checks.at("mounts").at("result"), "passed");
  EXPECT_EQ(checks.at("mounted").at("result"), "failed");
  EXPECT_THAT(TextAndAdvice("mounted", checks), HasSubstr("set user.home and user.uid"));
  ExpectSkipped({"write"}, "mounted", checks);
}

TEST_F(Doctor, NamesAWritableMountThatCannotBeWrittenTo) {
  // Permissions do not stop root; the kernel's own file systems do.
  const std::string closed = ::geteuid() == 0 ? "/sys" : MakeDirectory("closed").string();
  if (::geteuid() != 0) fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  options_.mounts.push_back({closed, "", true});
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("write", checks), AllOf(HasSubstr(closed), Not(HasSubstr(project))));
  EXPECT_TRUE(fs::is_empty(project));
}

TEST_F(Doctor, NamesAServerThatEndsAtOnce) {
  Start();
  MakeProgram("bin/limactl",
              "case $1 in\n"
              "--version) echo limactl version 2.2.0 ;;\n"
              "mcp) echo 'no such plugin' >&2; exit 3 ;;\n"
              "esac\n");
  EXPECT_THAT(OnlyFailure("round trip", Examine()),
              AllOf(HasSubstr("exit status 3"), HasSubstr("no such plugin")));
}

}  // namespace
}  // namespace integration
