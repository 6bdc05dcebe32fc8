// SPDX-License-Identifier: Apache-2.0
// What tests/suites/doctor.txt cannot see: a server that hangs, and host agents that a suite has
// not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/guest_checks.h"
#include "doctor/host_checks.h"
#include "support/errors.h"
#include "testing/fake_host_agent.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_support::FakeHostAgent;

TEST(CheckServer, WaitsNoLongerThanTheDeadline) {
  ServerUnderTest server({"sleep", "1000"});
  EXPECT_THROW(CheckServer(server, support::Context().WithTimeout(std::chrono::milliseconds(30))),
               support::Stopped);
}

TEST(CheckSshConfig, AsksTheHostAgentForItsPort) {
  const testing_support::TemporaryDirectory directory;
  lima::InstanceConfiguration configuration;
  configuration.lima_home = directory.path();
  configuration.name = "vm";
  std::filesystem::create_directories(configuration.directory());
  const std::filesystem::path socket = configuration.directory() / "ha.sock";
  lima::SshEndpoint endpoint;
  endpoint.port = 60022;  // FakeHostAgent::kGoodAnswer

  const Finding silent = CheckSshConfig(configuration, endpoint);
  EXPECT_EQ(silent.result, Result::kFailed);
  EXPECT_THAT(silent.text, AllOf(HasSubstr(socket.string()), HasSubstr("cannot be used")));
  EXPECT_THAT(silent.advice, HasSubstr("--force"));
  {
    const FakeHostAgent agent(socket, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    EXPECT_EQ(CheckSshConfig(configuration, endpoint).result, Result::kWarning) << "not known yet";
  }
  std::filesystem::remove(socket);
  const FakeHostAgent agent(socket, FakeHostAgent::kGoodAnswer);
  EXPECT_EQ(CheckSshConfig(configuration, endpoint).result, Result::kPassed);
}

}  // namespace
}  // namespace doctor
