#include "doctor/host_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

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

  [[nodiscard]] std::string MakeDirectory(const std::string& name) const {
    fs::create_directories(directory.path() / name);
    return directory.path() / name;
  }
  [[nodiscard]] fs::path Socket() const { return configuration.directory() / "ha.sock"; }

  testing_support::TemporaryDirectory directory;
  lima::InstanceConfiguration configuration;
  lima::SshEndpoint endpoint;
};

TEST_F(InstanceChecksTest, PortMustBeThatOfTheHostAgent) {
  const Finding silent = CheckSshConfig(configuration, endpoint);
  EXPECT_EQ(silent.result, Result::kFailed);
  EXPECT_THAT(silent.text, AllOf(HasSubstr(Socket().string()), HasSubstr("cannot be used")));
  {
    const FakeHostAgent agent(Socket(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(CheckSshConfig(configuration, endpoint).result, Result::kWarning) << "not known yet";
  }
  fs::remove(Socket());
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  EXPECT_EQ(CheckSshConfig(configuration, endpoint).result, Result::kPassed);
  endpoint.port = 60023;
  const Finding other = CheckSshConfig(configuration, endpoint);
  EXPECT_EQ(other.result, Result::kFailed);
  EXPECT_THAT(other.text, AllOf(HasSubstr("60022"), HasSubstr("60023")));
}

TEST_F(InstanceChecksTest, MountsMustBeDirectoriesOfTheHost) {
  const std::string one = MakeDirectory("one");
  EXPECT_EQ(CheckMounts(configuration, {}).result, Result::kWarning);
  const Finding finding =
      CheckMounts(configuration, {{one, one, true, false}, {one, "/mnt", false, false}});
  EXPECT_EQ(finding.result, Result::kPassed);
  EXPECT_EQ(finding.text, one + " (writable), " + one + " (read-only) at /mnt");

  const Finding missing =
      CheckMounts(configuration, {{one, {}, true, false}, {"/no/such", {}, true, false}});
  EXPECT_EQ(missing.result, Result::kFailed);
  EXPECT_THAT(missing.text, HasSubstr("no directory on this host: /no/such"));
}

TEST_F(InstanceChecksTest, MountsThatMayShowOldContentsAreNamed) {
  const std::string one = MakeDirectory("one");
  const std::string two = MakeDirectory("two");
  const Finding finding =
      CheckMounts(configuration, {{one, one, true, false}, {two, two, false, true}});
  EXPECT_EQ(finding.result, Result::kWarning);
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
  EXPECT_EQ(CheckSettings({{mount, {}, true, false}}, project, "vm").result, Result::kPassed);
  write("lima");
  const Finding finding = CheckSettings({{mount, {}, true, false}}, project, "vm");
  EXPECT_EQ(finding.result, Result::kWarning);
  EXPECT_THAT(finding.text, HasSubstr(project + "/.mcp.json"));
  EXPECT_THAT(finding.advice, HasSubstr("limactl mcp run claude vm"));
  EXPECT_EQ(CheckSettings({{mount, {}, false, false}}, project, "vm").result, Result::kPassed);
  EXPECT_EQ(CheckSettings({{mount, {}, true, false}}, "/", "vm").result, Result::kPassed);
  fs::remove(project + "/.mcp.json");
  fs::create_directory(project + "/.claude");
  std::ofstream(project + "/.claude/settings.local.json")
      << R"({"permissions": {"deny": ["Bash"]}})";
  EXPECT_THAT(CheckSettings({{mount, {}, true, false}}, project, "vm").text,
              HasSubstr("settings.local.json"));
  fs::remove_all(project + "/.claude");
  ASSERT_EQ(::mkfifo((project + "/.mcp.json").c_str(), 0600), 0);
  EXPECT_EQ(CheckSettings({{mount, {}, true, false}}, project, "vm").result, Result::kPassed);
}

TEST_F(InstanceChecksTest, FilesNewerThanTheStartAreNamed) {
  EXPECT_FALSE(ChangedAfterStart(configuration)) << "it does not run";
  std::ofstream(configuration.directory() / "lima.yaml") << "{}";
  std::ofstream(configuration.directory() / "ha.pid") << "1";
  const auto start = fs::last_write_time(configuration.directory() / "ha.pid");
  fs::create_directory(directory.path() / "_config");
  for (const fs::path& file :
       {configuration.directory() / "lima.yaml", directory.path() / "_config/default.yaml",
        directory.path() / "_config/override.yaml"}) {
    std::ofstream(file) << "{}";
    fs::last_write_time(file, start);
    EXPECT_FALSE(ChangedAfterStart(configuration)) << file;
    fs::last_write_time(file, start + std::chrono::seconds(1));
    EXPECT_EQ(ChangedAfterStart(configuration), file);
    EXPECT_EQ(CheckConfiguration(configuration).result, Result::kWarning);
    fs::last_write_time(file, start);
  }
}

TEST_F(InstanceChecksTest, OnlyAVirtualMachineThatDoesNotReactIsStoppedByForce) {
  EXPECT_THAT(CheckSshConfig(configuration, endpoint).advice, HasSubstr("--force"));
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  endpoint.port = 60023;
  EXPECT_THAT(CheckSshConfig(configuration, endpoint).advice,
              AllOf(HasSubstr("limactl stop vm"), Not(HasSubstr("--force"))));
}

}  // namespace
}  // namespace doctor
