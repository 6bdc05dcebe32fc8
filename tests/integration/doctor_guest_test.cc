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
  ExpectSkipped({"server", "mounted", "shell", "write", "find", "git"}, "connect", checks);
}

TEST_F(Doctor, NamesAnSshdThatRefusesTheKey) {
  options_.sshd_options = {"AllowUsers nobody-of-this-name"};
  const LoopbackInstance& instance = Start();
  EXPECT_THAT(OnlyFailure("connect", Examine()), HasSubstr(instance.identity_file()));
}

TEST_F(Doctor, NamesAGuestThatDoesNotAnswer) {
  const LoopbackInstance& instance = Start();
  testing_support::Freeze(instance);
  const json checks = Examine();
  testing_support::Thaw(instance);
  OnlyFailure("connect", checks);
}

TEST_F(Doctor, NamesAMissingSftpServer) {
  options_.sshd_options = {"Subsystem other /bin/true"};
  Start();
  EXPECT_THAT(OnlyFailure("connect", Examine()), HasSubstr("SFTP"));
}

TEST_F(Doctor, NamesAMissingLoginShell) {
  options_.lima_yaml = "user:\n  shell: /bin/no-such-shell\n";
  Start();
  EXPECT_THAT(OnlyFailure("shell", Examine()), HasSubstr("/bin/no-such-shell"));
}

TEST_F(Doctor, NamesALoginProfileThatExits) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "exit 3\n");
  EXPECT_THAT(OnlyFailure("shell", Examine()), HasSubstr("exit status 3"));
  EXPECT_TRUE(fs::is_empty(project));
}

TEST_F(Doctor, WarnsOfALoginProfileThatPrints) {
  options_.lima_yaml = "user:\n  shell: /bin/sh\n";
  Start();
  WriteProfiles({".profile"}, "echo Welcome to your VM\n");
  EXPECT_THAT(OnlyWarning("shell", Examine()), HasSubstr("Welcome to your VM"));
}

TEST_F(Doctor, WarnsOfAMissingGit) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "PATH=" + ProgramsWithout({"git"}).string() + "\n");
  EXPECT_THAT(OnlyWarning("git", Examine()), HasSubstr("install git"));
}

TEST_F(Doctor, ListsCopiesAndWhatTheyNeed) {
  options_.mounts = {};
  Start();
  const std::string without_copies = Examine().at("copies").at("text");
  EXPECT_THAT(without_copies, HasSubstr("none yet"));
  std::string facts;
  for (const char* field : {"/my/project", "/copy", "main", "", "", "", "", ""}) {
    facts += field;
    facts += '\0';
  }
  MakeFile("lima/default/mcp-copy/1.git/copy", facts);
  path_ = ProgramsWithout({"git"}).string();
  const std::string text = TextAndAdvice("copies", Examine());
  EXPECT_THAT(text,
              AllOf(HasSubstr("copies of /my/project"), HasSubstr("2.34 or newer on this host"),
                    HasSubstr("install git on this host")));
}

TEST_F(Doctor, NamesAMissingFind) {
  Start();
  WriteProfiles({".profile", ".bash_profile"}, "PATH=" + ProgramsWithout({"find"}).string() + "\n");
  EXPECT_THAT(OnlyFailure("find", Examine()), HasSubstr("install findutils"));
}

TEST_F(Doctor, NamesAMountPointThatCannotBeKnown) {
  options_.mounts.push_back({MakeDirectory("other"), "{{.Home}}/other", true});
  options_.sshd_options.push_back("ForceCommand HOME= exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"");
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("mounted", checks), HasSubstr("set user.home and user.uid"));
  ExpectSkipped({"shell", "write"}, "mounted", checks);
}

TEST_F(Doctor, NamesAWritableMountThatCannotBeWritten) {
  // Permissions do not stop root; the kernel's own file systems do.
  const std::string closed = ::geteuid() == 0 ? "/sys" : MakeDirectory("closed").string();
  if (::geteuid() != 0) fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  options_.mounts.push_back({closed, "", true});
  Start();
  EXPECT_THAT(OnlyFailure("write", Examine()), AllOf(HasSubstr(closed), Not(HasSubstr(project))));
  EXPECT_TRUE(fs::is_empty(project));
}

TEST_F(Doctor, NamesAServerThatExitsAtOnce) {
  Start();
  MakeProgram("bin/limactl",
              "case $1 in\n"
              "--version) echo limactl version 2.2.0 ;;\n"
              "mcp) echo 'no such plugin' >&2; exit 3 ;;\n"
              "esac\n");
  EXPECT_THAT(OnlyFailure("server", Examine()),
              AllOf(HasSubstr("status 3"), HasSubstr("no such plugin")));
}

}  // namespace
}  // namespace integration
