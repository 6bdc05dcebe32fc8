#include "doctor/instance_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "testing/child_process.h"
#include "testing/fake_host_agent.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::FakeHostAgent;

class InstanceChecksTest : public ::testing::Test {
 protected:
  InstanceChecksTest() {
    configuration.lima_home = directory.path();
    configuration.name = "vm";
    fs::create_directories(configuration.directory());
    endpoint.host = "127.0.0.1";
    endpoint.port = 60022;  // FakeHostAgent::kGoodAnswer
    endpoint.user = "me";
  }

  std::string MakeKey(const std::string& name) {
    const std::string file = directory.path() / name;
    const auto made = testing_support::RunProcess(
        {.arguments = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file}});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return file;
  }
  [[nodiscard]] std::string MakeDirectory(const std::string& name) const {
    fs::create_directories(directory.path() / name);
    return directory.path() / name;
  }
  [[nodiscard]] fs::path Socket() const { return configuration.directory() / "ha.sock"; }

  testing_support::TemporaryDirectory directory;
  lima::InstanceConfiguration configuration;
  lima::SshEndpoint endpoint;
};

TEST_F(InstanceChecksTest, MissingInstanceIsNamedWithTheExistingOnes) {
  std::ofstream(configuration.directory() / "lima.yaml");
  EXPECT_EQ(CheckInstance(directory.path(), "vm").mark, Mark::kPassed);
  const Finding missing = CheckInstance(directory.path(), "other");
  EXPECT_EQ(missing.mark, Mark::kFailed);
  EXPECT_THAT(missing.text, HasSubstr("\"other\""));
  EXPECT_THAT(missing.advice, AllOf(HasSubstr("vm"), HasSubstr("limactl start")));
  fs::remove(configuration.directory() / "lima.yaml");
  EXPECT_THAT(CheckInstance(directory.path(), "other").advice, Not(HasSubstr("vm")));
}

TEST_F(InstanceChecksTest, PortMustBeThatOfTheHostAgent) {
  const Finding silent = CheckSshConfig(configuration, endpoint);
  EXPECT_EQ(silent.mark, Mark::kFailed);
  EXPECT_THAT(silent.text, AllOf(HasSubstr(Socket().string()), HasSubstr("cannot connect")));
  {
    const FakeHostAgent agent(Socket(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(CheckSshConfig(configuration, endpoint).mark, Mark::kWarning) << "not known yet";
  }
  fs::remove(Socket());
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  EXPECT_EQ(CheckSshConfig(configuration, endpoint).mark, Mark::kPassed);
  endpoint.port = 60023;
  const Finding other = CheckSshConfig(configuration, endpoint);
  EXPECT_EQ(other.mark, Mark::kFailed);
  EXPECT_THAT(other.text, AllOf(HasSubstr("60022"), HasSubstr("60023")));
}

TEST_F(InstanceChecksTest, OneUsableKeyIsEnough) {
  const std::string text = directory.path() / "text";
  std::ofstream(text) << "no key\n";
  ASSERT_EQ(::chmod(text.c_str(), 0600), 0);
  endpoint.identity_files = {"/no/such/key", text};
  const Finding none = CheckKeys(endpoint);
  EXPECT_EQ(none.mark, Mark::kFailed);
  EXPECT_THAT(none.text, AllOf(HasSubstr("/no/such/key"), HasSubstr(text)));
  endpoint.identity_files.push_back(MakeKey("user"));
  const Finding one = CheckKeys(endpoint);
  EXPECT_EQ(one.mark, Mark::kPassed);
  EXPECT_THAT(one.text, HasSubstr("user; not used: /no/such/key: "));
}

TEST_F(InstanceChecksTest, KeyMustBeReadableByItsOwnerAlone) {
  const std::string file = MakeKey("my key");
  endpoint.identity_files = {file};
  for (const mode_t mode : {mode_t{0640}, mode_t{0604}, mode_t{0620}}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    const Finding finding = CheckKeys(endpoint);
    EXPECT_EQ(finding.mark, Mark::kFailed) << mode;
    EXPECT_EQ(finding.advice, "chmod 600 '" + file + "'");
  }
  ASSERT_EQ(::chmod(file.c_str(), 0400), 0);
  EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kPassed);
}

// With loadDotSSHPubKeys: true, the user's own keys follow Lima's.
TEST_F(InstanceChecksTest, AnotherKeyMayBeReadableByOthers) {
  const std::string limas = MakeKey("user");
  const std::string other = MakeKey("id_rsa");
  ASSERT_EQ(::chmod(other.c_str(), 0644), 0);
  endpoint.identity_files = {limas, other};
  const Finding finding = CheckKeys(endpoint);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, AllOf(HasSubstr(other + " may be read"), HasSubstr("used: " + limas)));
  endpoint.identity_files = {"/no/such/key", other};
  EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kFailed);
}

TEST_F(InstanceChecksTest, MountsMustBeDirectoriesOfTheHost) {
  const std::string one = MakeDirectory("one");
  EXPECT_EQ(CheckMounts({}, "vm", true).mark, Mark::kWarning);
  const Finding finding =
      CheckMounts({{one, one, true, false}, {one, "/mnt", false, false}}, "vm", true);
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_EQ(finding.text, one + " (writable), " + one + " (read-only) at /mnt");

  const std::vector<lima::Mount> missing = {{one, one, true, false},
                                            {"/no/such", "/no/such", true, false}};
  const Finding running = CheckMounts(missing, "vm", true);
  EXPECT_EQ(running.mark, Mark::kFailed);
  EXPECT_THAT(running.text, HasSubstr("no directory on this host: /no/such"));
  const Finding stopped = CheckMounts(missing, "vm", false);
  EXPECT_EQ(stopped.mark, Mark::kWarning);
  EXPECT_THAT(stopped.advice, HasSubstr("limactl start vm"));
  const std::string file = directory.path() / "file";
  std::ofstream(file) << "no directory";
  EXPECT_EQ(CheckMounts({{file, file, true, false}}, "vm", false).mark, Mark::kFailed);
}

TEST_F(InstanceChecksTest, MountsThatMayShowOldContentsAreNamed) {
  const std::string one = MakeDirectory("one");
  const std::string two = MakeDirectory("two");
  const Finding finding =
      CheckMounts({{one, one, true, false}, {two, two, false, true}}, "vm", true);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("fscache): " + two));
  EXPECT_THAT(finding.advice, HasSubstr("limactl edit vm"));
}

TEST_F(InstanceChecksTest, SettingsInAWritableMountAreNamed) {
  const std::string mount = MakeDirectory("mount");
  const std::string project = MakeDirectory("mount/project");
  const auto write = [&](const std::string& server) {
    std::ofstream(project + "/.mcp.json")
        << R"({"mcpServers": {")" << server << R"(": {"command": "limactl"}}})";
  };
  write("other");
  EXPECT_EQ(CheckSettings({{mount, {}, true, false}}, project, "vm").mark, Mark::kPassed);
  write("lima");
  const Finding finding = CheckSettings({{mount, {}, true, false}}, project, "vm");
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, HasSubstr(project + "/.mcp.json"));
  EXPECT_THAT(finding.advice, HasSubstr("limactl mcp run claude vm"));
  EXPECT_EQ(CheckSettings({{mount, {}, false, false}}, project, "vm").mark, Mark::kPassed);
  EXPECT_EQ(CheckSettings({{mount, {}, true, false}}, "/", "vm").mark, Mark::kPassed);
}

}  // namespace
}  // namespace doctor
