// `limactl mcp doctor` with one fault at a time on the host: in what is installed, and in Lima's
// files of the instance.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "integration/doctor_fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::LoopbackInstance;

TEST_F(Doctor, NamesAMissingLimactlAndGoesOnWithoutIt) {
  Start();
  fs::remove(Path("bin/limactl"));
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("limactl", checks), HasSubstr("https://lima-vm.io"));
  EXPECT_THAT(TextAndAdvice("round trip", checks), HasSubstr("limactl-mcp serve default"));
}

TEST_F(Doctor, NamesALimactlThatDoesNotWork) {
  Start();
  MakeProgram("bin/limactl", "echo 'must not run as the root user' >&2; exit 1\n");
  EXPECT_THAT(OnlyFailure("limactl", Examine()), HasSubstr("must not run as the root user"));
}

TEST_F(Doctor, NamesALimactlThatIsTooOld) {
  Start();
  MakeProgram("bin/limactl", "echo limactl version 1.2.1\n");
  EXPECT_THAT(OnlyFailure("limactl", Examine()), HasSubstr("1.2.1"));
}

TEST_F(Doctor, NamesAnotherPluginThatWinsOverThisProgram) {
  Start();
  const fs::path other =
      MakeProgram("first/limactl-mcp", "exec '" + ServerProgram() + "' \"$@\"\n");
  path_ = Path("first").string() + ":" + path_;
  fs::rename(Path("bin/limactl-mcp"), MakeDirectory("last") / "limactl-mcp");
  path_ += ":" + Path("last").string();
  EXPECT_THAT(OnlyFailure("plugin", Examine()),
              AllOf(HasSubstr(other.string()), HasSubstr(ServerProgram())));
}

TEST_F(Doctor, NamesAPluginThatLimactlDoesNotFind) {
  Start();
  fs::remove(Path("bin/limactl-mcp"));
  EXPECT_THAT(OnlyFailure("plugin", Examine()), HasSubstr("directory on PATH"));
}

TEST_F(Doctor, NamesWhatIsNoInstanceName) {
  Start();
  const json checks = Examine("../x");
  OnlyFailure("name", checks);
  ExpectSkipped({"instance", "status", "connect", "round trip"}, "name", checks);
}

TEST_F(Doctor, NamesAnInstanceThatDoesNotExistAndListsThoseThatDo) {
  Start();
  const json checks = Examine("unknown");
  EXPECT_THAT(OnlyFailure("instance", checks), AllOf(HasSubstr("unknown"), HasSubstr("default")));
  ExpectSkipped({"status", "mounts", "connect", "round trip"}, "instance", checks);
}

TEST_F(Doctor, NamesAConfigurationThatCannotBeRead) {
  Start();
  MakeFile("lima/default/lima.yaml", "mounts: [\n");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("configuration", checks), HasSubstr("lima.yaml"));
  ExpectSkipped({"status", "mounts", "connect"}, "configuration", checks);
}

TEST_F(Doctor, DoesNotSendToLimactlEditForAFileOfAllInstances) {
  Start();
  MakeFile("lima/_config/default.yaml", "mounts: [\n");
  EXPECT_THAT(OnlyFailure("configuration", Examine()),
              AllOf(HasSubstr("default.yaml: line"), HasSubstr("mend it in the file that is named"),
                    HasSubstr("limactl edit default opens the instance's own lima.yaml")));
}

TEST_F(Doctor, NamesAStoppedInstance) {
  Start().Stop();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("status", checks), HasSubstr("limactl start default"));
  ExpectSkipped({"ssh.config", "connect", "round trip"}, "status", checks);
}

TEST_F(Doctor, NamesABrokenInstance) {
  fs::remove(Start().directory() / "ha.pid");
  EXPECT_THAT(OnlyFailure("status", Examine()),
              AllOf(HasSubstr("broken"), HasSubstr("limactl stop --force default")));
}

TEST_F(Doctor, NamesAMountWhoseLocationIsNotOnTheHost) {
  options_.mounts.push_back({Path("gone").string(), "", true});
  Start();
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("mounts", checks),
              HasSubstr("no directory on this host: " + Path("gone").string()));
}

TEST_F(Doctor, WarnsOfAPlainInstanceWhichMountsNothing) {
  options_.lima_yaml = "plain: true\n";
  Start();
  const json checks = Examine();
  EXPECT_THAT(With("failed", checks), IsEmpty());
  EXPECT_THAT(TextAndAdvice("mounts", checks), HasSubstr("plain: true"));
}

TEST_F(Doctor, WarnsOfAReadOnly9pMountThatTheGuestCaches) {
  MakeDirectory("read-only");
  options_.mounts.push_back({Path("read-only").string(), "", false});
  options_.lima_yaml = "mountType: 9p\n";
  Start();
  EXPECT_THAT(OnlyWarning("mounts", Examine()),
              AllOf(HasSubstr("fscache): " + Path("read-only").string()), HasSubstr("mmap")));
}

TEST_F(Doctor, WarnsOfSettingsThatTheGuestCanChange) {
  Start();
  MakeFile("project/.mcp.json", R"({"mcpServers": {"lima": {"command": "limactl"}}})");
  EXPECT_THAT(OnlyWarning("settings", Examine()),
              AllOf(HasSubstr(Path("project/.mcp.json").string()),
                    HasSubstr("limactl mcp run claude default")));
}

TEST_F(Doctor, DoesNotWarnOfSettingsOfAnotherServer) {
  Start();
  MakeFile("project/.mcp.json", R"({"mcpServers": {"other": {"command": "other"}}})");
  EXPECT_THAT(With("warning", Examine()), Not(Contains("settings")));
}

TEST_F(Doctor, NamesAMissingSshConfig) {
  Start();
  fs::remove(SshConfig());
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("ssh.config", checks), HasSubstr(SshConfig().string()));
  ExpectSkipped({"port", "key", "connect", "round trip"}, "ssh.config", checks);
}

TEST_F(Doctor, NamesAPortThatTheHostAgentDoesNotKnowAndDoesNotConnectToIt) {
  const LoopbackInstance& instance = Start();
  const std::string port = std::to_string(instance.port());
  ReplaceInSshConfig("Port " + port, "Port 1");
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("port", checks), AllOf(HasSubstr("port 1,"), HasSubstr("port " + port)));
  ExpectSkipped({"connect", "round trip"}, "port", checks);
}

TEST_F(Doctor, NamesAMissingKey) {
  const LoopbackInstance& instance = Start();
  fs::remove(instance.identity_file());
  const json checks = Examine();
  EXPECT_THAT(OnlyFailure("key", checks), HasSubstr(instance.identity_file()));
  ExpectSkipped({"connect", "round trip"}, "key", checks);
}

TEST_F(Doctor, NamesAKeyThatOthersMayRead) {
  const LoopbackInstance& instance = Start();
  ASSERT_EQ(::chmod(instance.identity_file().c_str(), 0644), 0);
  EXPECT_THAT(OnlyFailure("key", Examine()), HasSubstr("chmod 600 " + instance.identity_file()));
}

}  // namespace
}  // namespace integration
