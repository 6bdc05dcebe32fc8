// SPDX-License-Identifier: Apache-2.0
// What tests/suites/doctor.txt cannot see: a server that hangs, and host agents that a suite has
// not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/exposure.h"
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

TEST(CheckClock, WarnsBeyondTheToleranceOnEitherSideOfTheCall) {
  lima::InstanceConfiguration instance;
  instance.name = "vm";
  constexpr std::int64_t kNow = 1'800'000'000;
  const auto check = [&](std::int64_t before, std::int64_t guest, std::int64_t after) {
    return CheckClock(instance, {kNow + before, kNow + guest, kNow + after});
  };
  EXPECT_EQ(check(0, -5, 0).result, Result::kPassed);
  EXPECT_EQ(check(0, 5, 0).result, Result::kPassed);
  EXPECT_EQ(check(0, 0, 19).result, Result::kPassed) << "a slow guest";
  EXPECT_EQ(check(0, 24, 19).result, Result::kPassed);
  EXPECT_EQ(check(0, -6, 0).text, "the guest's clock is about 6s behind");
  EXPECT_EQ(check(0, 25, 19).text, "the guest's clock is about 6s ahead");
  EXPECT_EQ(check(0, -115200, 1).text, "the guest's clock is about 32h behind");
  EXPECT_EQ(check(0, 99'999'999'999 - kNow, 0).result, Result::kWarning);
  EXPECT_THAT(check(0, -6, 0).advice, HasSubstr("sudo date -s \"@$(date +%s)\""));
  instance.os = "Darwin";
  EXPECT_EQ(check(0, -6, 0).advice, "limactl stop vm && limactl start vm");
}

TEST(LoopbackAdvice, IsForVzWithLimaOfThatVersion) {
  lima::InstanceConfiguration instance;
  instance.name = "vm";
  instance.vm_type = "vz";
  EXPECT_THAT(LoopbackAdvice(instance, support::Release{2, 3, 0}), HasSubstr("limactl edit vm"));
  EXPECT_EQ(LoopbackAdvice(instance, support::Release{2, 2, 9}), "");
  EXPECT_EQ(LoopbackAdvice(instance, std::nullopt), "");
  instance.shared.networks = {"shared"};
  EXPECT_NE(LoopbackAdvice(instance, support::Release{10, 0, 0}), "");
  instance.shared.networks.push_back("user-v2");
  EXPECT_EQ(LoopbackAdvice(instance, support::Release{2, 3, 0}), "") << "Lima refuses both";
  instance.shared = {};
  instance.shared.host_loopback = false;
  EXPECT_EQ(LoopbackAdvice(instance, support::Release{2, 3, 0}), "");
  instance.shared = {};
  for (const char* driver : {"qemu", "krunkit", "wsl2"}) {
    instance.vm_type = driver;
    EXPECT_EQ(LoopbackAdvice(instance, support::Release{2, 3, 0}), "") << driver;
  }
}

}  // namespace
}  // namespace doctor
