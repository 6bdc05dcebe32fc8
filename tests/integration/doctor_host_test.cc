// `limactl mcp doctor` with one fault at a time on the host: in what is installed, and in Lima's
// files of the instance.

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "integration/doctor_fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(Doctor, NamesAMissingLimactlAndContinuesWithoutIt) {
  Start();
  fs::remove(Path("bin/limactl"));
  EXPECT_THAT(OnlyFailure("limactl", Examine()), HasSubstr("https://lima-vm.io"));
}

TEST_F(Doctor, RunsNoLimactlThatTheGuestCanWrite) {
  Start();
  MakeProgram("project/bin/limactl", "echo planted\n");
  path_ = Path("project/bin").string() + ":" + path_;
  EXPECT_THAT(TextAndAdvice("limactl", Examine()), HasSubstr(Path("bin/limactl").string()));
  fs::remove(Path("bin/limactl"));
  MakeLink("bin/limactl", Path("project/bin/limactl"));
  EXPECT_THAT(TextAndAdvice("limactl", Examine()), HasSubstr("which the guest can write"));
}

TEST_F(Doctor, NamesAnInvalidOrUnknownInstance) {
  Start();
  const json invalid = Examine("../x");
  OnlyFailure("instance", invalid);
  ExpectSkipped({"configuration", "status", "connect", "server"}, "instance", invalid);
  EXPECT_THAT(OnlyFailure("instance", Examine("unknown")),
              AllOf(HasSubstr("unknown"), HasSubstr("default")));
}

TEST_F(Doctor, NamesTheFileOfTheConfigurationThatCannotBeRead) {
  Start();
  MakeFile("lima/_config/default.yaml", "mounts: [\n");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("configuration", checks),
              AllOf(HasSubstr("default.yaml: line"), HasSubstr("fix the named file")));
  ExpectSkipped({"status", "mounts", "connect"}, "configuration", checks);
}

TEST_F(Doctor, NamesABrokenInstance) {
  fs::remove(Start().directory() / "ha.pid");
  EXPECT_THAT(OnlyFailure("status", Examine()),
              AllOf(HasSubstr("broken"), HasSubstr("limactl stop --force default")));
}

TEST_F(Doctor, WarnsOfAPlainInstanceWhichMountsNothing) {
  options_.lima_yaml = "plain: true\n";
  Start();
  const json checks = Examine();
  EXPECT_THAT(With("failed", checks), IsEmpty()) << checks.dump(2);
  EXPECT_THAT(TextAndAdvice("mounts", checks), HasSubstr("plain: true"));
  EXPECT_EQ(With("skipped", checks),
            (std::vector<std::string>{"find", "git", "mounted", "shell", "write"}));
}

TEST_F(Doctor, WarnsOfSettingsThatTheGuestCanChange) {
  Start();
  MakeFile("project/.mcp.json", R"({"mcpServers": {"lima": {"command": "limactl"}}})");
  EXPECT_THAT(OnlyWarning("settings", Examine()),
              AllOf(HasSubstr(Path("project/.mcp.json").string()),
                    HasSubstr("limactl mcp run claude default")));
}

TEST_F(Doctor, NamesAMissingSshConfig) {
  Start();
  fs::remove(SshConfig());
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("ssh.config", checks), HasSubstr(SshConfig().string()));
  ExpectSkipped({"connect", "server"}, "ssh.config", checks);
}

TEST_F(Doctor, DoesNotConnectToAPortThatTheHostAgentDoesNotKnow) {
  const std::string port = std::to_string(Start().port());
  ReplaceInSshConfig("Port " + port, "Port 1");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("ssh.config", checks),
              AllOf(HasSubstr("port 1,"), HasSubstr("port " + port)));
  ExpectSkipped({"connect", "server"}, "ssh.config", checks);
}

}  // namespace
}  // namespace integration
