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

TEST_F(InstanceChecksTest, OnlyAVirtualMachineThatDoesNotReactIsStoppedByForce) {
  EXPECT_THAT(CheckSshConfig(configuration, endpoint).advice, HasSubstr("--force"));
  const FakeHostAgent agent(Socket(), FakeHostAgent::kGoodAnswer);
  endpoint.port = 60023;
  EXPECT_THAT(CheckSshConfig(configuration, endpoint).advice,
              AllOf(HasSubstr("limactl stop vm"), Not(HasSubstr("--force"))));
}

}  // namespace
}  // namespace doctor
