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
  [[nodiscard]] fs::path Socket() const { return configuration.directory() / "ha.sock"; }

  testing_support::TemporaryDirectory directory;
  lima::InstanceConfiguration configuration;
  lima::SshEndpoint endpoint;
};

TEST_F(InstanceChecksTest, InstanceThatIsMissingIsNamedWithThoseThatAreThere) {
  std::ofstream(configuration.directory() / "lima.yaml");
  EXPECT_EQ(CheckInstance(directory.path(), "vm").mark, Mark::kPassed);
  const Finding missing = CheckInstance(directory.path(), "other");
  EXPECT_EQ(missing.mark, Mark::kFailed);
  EXPECT_THAT(missing.text, HasSubstr("\"other\""));
  EXPECT_THAT(missing.advice, AllOf(HasSubstr("vm"), HasSubstr("limactl start")));
  fs::remove(configuration.directory() / "lima.yaml");
  EXPECT_THAT(CheckInstance(directory.path(), "other").advice, Not(HasSubstr("vm")));
}

TEST_F(InstanceChecksTest, GuestThatIsNotServedIsNothingToEdit) {
  EXPECT_EQ(CheckConfiguration(configuration).mark, Mark::kPassed);
  configuration.os = "Windows";
  const Finding finding = CheckConfiguration(configuration);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("Windows"));
  EXPECT_THAT(finding.advice, HasSubstr("limactl list"));
}

TEST_F(InstanceChecksTest, SamePortPasses) {
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  EXPECT_EQ(CheckPort(configuration, endpoint).mark, Mark::kPassed);
}

TEST_F(InstanceChecksTest, AnotherPortFailsAndBothAreNamed) {
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  endpoint.port = 60023;
  const Finding finding = CheckPort(configuration, endpoint);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("60022"), HasSubstr("60023")));
}

TEST_F(InstanceChecksTest, PortThatTheHostAgentDoesNotKnowYetIsAWarning) {
  const FakeHostAgent agent(Socket(), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(CheckPort(configuration, endpoint).mark, Mark::kWarning);
}

TEST_F(InstanceChecksTest, HostAgentThatDoesNotAnswerFailsAndIsNamed) {
  const Finding finding = CheckPort(configuration, endpoint);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr(Socket().string()), HasSubstr("cannot connect")));
}

TEST_F(InstanceChecksTest, OneGoodKeyIsEnoughAndTheOthersAreTold) {
  endpoint.identity_files = {"/no/such/key", MakeKey("user")};
  const Finding finding = CheckKeys(endpoint);
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("user; not used: /no/such/key: ")));
}

TEST_F(InstanceChecksTest, NoGoodKeyFails) {
  const fs::path text = directory.path() / "text";
  std::ofstream(text) << "no key\n";
  ASSERT_EQ(::chmod(text.c_str(), 0600), 0);
  endpoint.identity_files = {"/no/such/key", text};
  const Finding finding = CheckKeys(endpoint);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("/no/such/key"), HasSubstr(text.string())));
}

TEST_F(InstanceChecksTest, KeyThatOthersMayReadFails) {
  endpoint.identity_files = {MakeKey("user")};
  for (const mode_t mode : {mode_t{0640}, mode_t{0604}, mode_t{0620}}) {
    ASSERT_EQ(::chmod(endpoint.identity_files.front().c_str(), mode), 0);
    EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kFailed) << mode;
  }
  ASSERT_EQ(::chmod(endpoint.identity_files.front().c_str(), 0400), 0);
  EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kPassed);
}

// As with loadDotSSHPubKeys: true, where the user's own keys stand beside Lima's.
TEST_F(InstanceChecksTest, KeyBehindLimasOwnThatOthersMayReadIsAWarning) {
  const std::string limas = MakeKey("user");
  const std::string other = MakeKey("id_rsa");
  ASSERT_EQ(::chmod(other.c_str(), 0644), 0);
  endpoint.identity_files = {limas, other};
  const Finding finding = CheckKeys(endpoint);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, AllOf(HasSubstr(other + " may be read"), HasSubstr("used: " + limas)));
  EXPECT_EQ(finding.advice, "chmod 600 " + other);

  endpoint.identity_files = {other, limas};
  EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kFailed);
  endpoint.identity_files = {"/no/such/key", other};
  EXPECT_EQ(CheckKeys(endpoint).mark, Mark::kFailed);
}

TEST_F(InstanceChecksTest, WhatToDoAboutAKeyIsALineForTheShell) {
  const std::string file = MakeKey("my key");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  endpoint.identity_files = {file};
  EXPECT_EQ(CheckKeys(endpoint).advice, "chmod 600 '" + file + "'");
}

}  // namespace
}  // namespace doctor
