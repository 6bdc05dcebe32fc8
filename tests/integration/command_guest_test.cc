// Guests of many kinds: each tool works, or reports what is missing.

#include <gmock/gmock.h>

#include <ostream>

#include "integration/command_fixture.h"
#include "shell/shell_quote.h"
#include "testing/eventually.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_support::LoopbackInstance;
using testing_support::ProcessResult;

class GuestKinds : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    MakeFile("root/a.txt", "needle\n");
  }

  void ExpectFileToolsWork() {
    Write(root + "/new.txt", "written");
    EXPECT_EQ(Read(root + "/new.txt"), "written");
    EXPECT_THAT(List(root), ::testing::Contains("a.txt"));
  }
  void ExpectEverythingWorks() {
    const std::string odd = "it's $HOME; \\back \"quoted\"!\nline";
    EXPECT_EQ(Run({"sh", "-c", "printf %s \"$1\"; pwd >&2", "sh", odd}).value("stdout", ""), odd);
    EXPECT_EQ(Shell("exit 7").value("exit_code", -1), 7);
    EXPECT_EQ(Glob({{"pattern", "**/*.txt"}, {"path", root}}), std::vector{root + "/a.txt"});
    EXPECT_THAT(Call("search_file_content", {{"pattern", "needle"}, {"path", root}}).dump(),
                HasSubstr("a.txt"));
    ExpectFileToolsWork();
    const std::int64_t id =
        BeginShell("trap '' TERM; echo $$ >process; while :; do sleep 0.2; done");
    const auto process = static_cast<pid_t>(std::stol(Await("process")));
    client().SendNotification("notifications/cancelled", {{"requestId", id}});
    EXPECT_TRUE(testing_support::Eventually([&] { return StatusOf(process, "VmRSS") == 0; },
                                            std::chrono::seconds(3)));
  }
};

/// sshd runs this program in place of the user's shell.
std::vector<std::string> LoginShell(const std::string& program) {
  return {"ForceCommand exec " + program + " -c \"$SSH_ORIGINAL_COMMAND\""};
}

TEST_F(GuestKinds, LoginShellFish) {
  if (!fs::exists("/usr/bin/fish")) GTEST_SKIP() << Skipping("there is no /usr/bin/fish");
  StartGuest(LoginShell("fish"), {}, "user: {shell: /usr/bin/fish}");
  ExpectEverythingWorks();
}

TEST_F(GuestKinds, LoginShellCsh) {
  if (!Installed("tcsh")) GTEST_SKIP() << Skipping("there is no tcsh here");
  StartGuest(LoginShell("tcsh"));
  ExpectEverythingWorks();
}

TEST_F(GuestKinds, NothingButBusyBox) {
  if (!Installed("busybox")) GTEST_SKIP() << Skipping("there is no BusyBox here");
  const fs::path applets = MakeDirectory("applets");
  const ProcessResult installed = testing_support::RunProcess(
      {.arguments = {"sh", "-c", "busybox --install -s \"$0\"", applets.string()}});
  ASSERT_EQ(installed.exit_code, 0) << installed.error;
  MakeFile("lima/default/guest-home/.profile", "PATH=" + applets.string() + "\n");
  StartGuest(LoginShell("env PATH=" + applets.string() + " sh"), {},
             "user: {shell: " + (applets / "ash").string() + "}");
  EXPECT_THAT(Shell("command -v sed").value("stdout", ""), HasSubstr(applets.string()));
  ExpectEverythingWorks();
}

TEST_F(GuestKinds, WithoutTheConfiguredShell) {
  StartGuest({}, {}, "user: {shell: /no/such/bash}");
  const json result = Run({"true"});
#ifdef __APPLE__  // bash 3.2
  EXPECT_EQ(result.value("exit_code", -1), 126);
#else
  EXPECT_EQ(result.value("exit_code", -1), 127);
#endif
  EXPECT_THAT(result.value("error", ""),
              AllOf(HasSubstr("has no /no/such/bash"), HasSubstr(".user.shell")));
  ExpectFileToolsWork();
  EXPECT_EQ(Glob({{"pattern", "a.*"}, {"path", root}}), std::vector{root + "/a.txt"});
}

struct Profile {
  const char* name;
  const char* file;
  const char* text;
  bool is_dropped = false;  ///< its output
};
void PrintTo(const Profile& profile, std::ostream* out) {
  *out << profile.name;
}

class GuestProfile : public GuestKinds, public ::testing::WithParamInterface<Profile> {
 protected:
  /// Runs what `limactl shell` would, with this machine's ssh and Lima's ssh.config.
  [[nodiscard]] ProcessResult RunBySsh(const LoopbackInstance& instance) const {
    return testing_support::RunProcess(
        {.arguments = {
             "ssh", "-n", "-F", instance.directory() / "ssh.config", "-o", "ControlMaster=no", "-o",
             "ControlPath=none", "-o", "LogLevel=ERROR", "lima-default",
             "cd " + shell::ShellQuote(root) + " || exit 1 ; exec /bin/bash -l -c 'echo hello'"}});
  }
};

TEST_P(GuestProfile, AffectsOnlyCommandsAsWithLimactlShell) {
  MakeFile(std::string("lima/default/guest-home/") + GetParam().file, GetParam().text);
  const LoopbackInstance& instance = StartGuest();
  ExpectFileToolsWork();
  EXPECT_EQ(Glob({{"pattern", "a.*"}, {"path", root}}), std::vector{root + "/a.txt"});
  EXPECT_THAT(Call("search_file_content", {{"pattern", "needle"}, {"path", root}}).dump(),
              HasSubstr("a.txt"));
  const ProcessResult plain = RunBySsh(instance);
  const json ours = Run({"echo", "hello"});
  if (GetParam().is_dropped) {
    EXPECT_EQ(ours.value("stdout", ""), "hello\n");
    EXPECT_EQ(ours.value("stderr", ""), "");
  } else {
    EXPECT_EQ(ours.value("stdout", ""), plain.output);
    EXPECT_EQ(ours.value("stderr", ""), plain.error);
  }
  EXPECT_EQ(ours.value("exit_code", -1), plain.exit_code);
}

INSTANTIATE_TEST_SUITE_P(
    Guest, GuestProfile,
    ::testing::Values(
        Profile{"Prints", ".bash_profile", "echo welcome; echo warning >&2\n", true},
        Profile{"IsSlow", ".bash_profile", "sleep 1.5\n"},
        Profile{"ExitsOne", ".bash_profile", "exit 1\n"},
        Profile{"ReadsInput", ".bash_profile", "read -r line; cat\n"},
        Profile{"IsStrict", ".bash_profile",
                "set -eu; trap 'echo trapped' EXIT; shopt -s expand_aliases; alias echo=false\n"},
        Profile{
            "IsStrictBeforeLogin", ".bashrc",
            "set -eu; trap 'echo trapped' EXIT; shopt -s expand_aliases; alias printf=false\n"}),
    [](const auto& profile) { return std::string(profile.param.name); });

}  // namespace
}  // namespace integration
