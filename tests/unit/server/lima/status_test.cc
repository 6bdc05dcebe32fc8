// SPDX-License-Identifier: Apache-2.0
#include "lima/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "lima/boot.h"
#include "support/errors.h"
#include "testing/fake_host_agent.h"
#include "testing/files.h"
#include "testing/sockets.h"
#include "testing/temporary_directory.h"

namespace lima {
namespace {

using testing::HasSubstr;
using testing_support::FakeHostAgent;
using testing_support::ListenOnUnix;
using testing_support::SetModified;
using testing_support::TemporaryDirectory;
using testing_support::WriteFile;

constexpr const char* kGoodAnswer = FakeHostAgent::kGoodAnswer;

std::string OwnPid() {
  return std::to_string(::getpid()) + "\n";
}

class StatusTest : public testing::Test {
 protected:
  void Write(const char* name, const std::string& text) const {
    WriteFile(directory_.path() / name, text);
  }
  /// Writes it as an instance of an earlier boot left it.
  void WriteOld(const char* name, const std::string& text) const {
    Write(name, text);
    SetModified(directory_.path() / name, ThisBoot().start - kBootMargin - std::chrono::hours(1));
  }
  [[nodiscard]] std::filesystem::path socket() const { return directory_.path() / "ha.sock"; }
  [[nodiscard]] Status Inspect(const std::optional<std::string>& vm_type = std::nullopt) const {
    return InspectStatus(directory_.path(), vm_type);
  }

  TemporaryDirectory directory_;
};

TEST_F(StatusTest, RunningWhenAgentAndAnyDriverLiveAndTheAgentAnswers) {
  Write("ha.pid", OwnPid());
  const FakeHostAgent agent(socket(), kGoodAnswer);
  for (const char* driver : {"qemu.pid", "vz.pid", "krunkit.pid", "new.pid"}) {
    Write(driver, OwnPid());
    const Status status = Inspect();
    EXPECT_EQ(status.state, State::kRunning) << driver << ": " << status.reason;
    EXPECT_EQ(status.reason, "");
    std::filesystem::remove(directory_.path() / driver);
  }
}

/// Drops root's privileges. Call it only in a separate process.
void BecomeOrdinaryUser() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && ::setuid(kNobody) != 0) std::abort();
}

TEST_F(StatusTest, AProcessOfAnotherUserIsAlive) {
  Write("ha.pid", "1");
  Write("qemu.pid", "1");
  const FakeHostAgent agent(socket(), kGoodAnswer);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(socket(), std::filesystem::perms(0777));
  EXPECT_EXIT(
      {
        BecomeOrdinaryUser();
        const Status status = Inspect();
        std::fprintf(stderr, "%s", status.reason.c_str());
        std::_Exit(status.state == State::kRunning ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
}

TEST_F(StatusTest, DriversWithoutPidFileAreJudgedByTheAgent) {
  Write("ext.drv.pid", OwnPid());
  EXPECT_EQ(Inspect().state, State::kStopped);
  Write("ha.pid", OwnPid());
  const FakeHostAgent agent(socket(), kGoodAnswer);
  EXPECT_EQ(Inspect().state, State::kRunning);
  std::filesystem::remove(directory_.path() / "ext.drv.pid");
  EXPECT_EQ(Inspect("wsl2").state, State::kRunning) << "it has no pid file";
  EXPECT_EQ(Inspect("qemu").state, State::kBroken);
}

TEST_F(StatusTest, BrokenWithAnInvalidPidFileOrAnUnreadableDirectory) {
  for (const char* text : {"", "x", "0", "-1", "12x", "99999999999999999999"}) {
    Write("qemu.pid", text);
    const Status status = Inspect();
    EXPECT_EQ(status.state, State::kBroken) << text;
    EXPECT_THAT(status.reason, HasSubstr("qemu.pid does not hold a process id")) << text;
  }
  const Status gone = InspectStatus(directory_.path() / "gone");
  EXPECT_EQ(gone.state, State::kBroken);
  EXPECT_THAT(gone.reason, HasSubstr("cannot read " + (directory_.path() / "gone").string()));
}

TEST_F(StatusTest, BrokenWithAnInvalidAnswerOfTheAgent) {
  Write("ha.pid", OwnPid());
  Write("qemu.pid", OwnPid());
  EXPECT_THAT(Inspect().reason, HasSubstr("ha.sock cannot be used: "));
  for (const char* answer :
       {"", "garbage", "HTTP/1.1 500 Internal Server Error\r\n\r\n{}", "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nnot json", "HTTP/1.1 200 OK\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\n\r\n{\"sshLocalPort\":\"22\"}",
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{\"sshLo"}) {
    const FakeHostAgent agent(socket(), answer);
    const Status status = Inspect();
    EXPECT_EQ(status.state, State::kBroken) << answer;
    EXPECT_THAT(status.reason, HasSubstr("ha.sock cannot be used")) << answer;
    std::filesystem::remove(socket());
  }
}

TEST_F(StatusTest, BrokenWhenTheAgentNeverAnswers) {
  Write("ha.pid", OwnPid());
  Write("qemu.pid", OwnPid());
  const auto silent = ListenOnUnix(socket());  // never replies
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Inspect().reason, HasSubstr("does not respond in time"));
  const auto taken = std::chrono::steady_clock::now() - start;
  EXPECT_GE(taken, kHostAgentTimeout);
  EXPECT_LT(taken, kHostAgentTimeout * 4);
}

TEST_F(StatusTest, AnOldPidFileNamesNobody) {
  for (const std::string& text :
       {OwnPid(), std::string("1"), std::string(), std::string(4, '\0')}) {
    WriteOld("qemu.pid", text);
    EXPECT_EQ(Inspect().state, State::kStopped) << "qemu.pid alone: " << text;
    WriteOld("ha.pid", text);
    EXPECT_EQ(Inspect().state, State::kStopped) << text;
    std::filesystem::remove(directory_.path() / "qemu.pid");
    EXPECT_EQ(Inspect().state, State::kStopped) << "ha.pid alone: " << text;
    std::filesystem::remove(directory_.path() / "ha.pid");
  }
}

TEST_F(StatusTest, ASocketThatRefusesIsNobodyOnlyBesideAnOldPidFile) {
  ListenOnUnix(socket());  // closed at once
  Write("qemu.pid", OwnPid());
  Write("ha.pid", OwnPid());
  EXPECT_EQ(Inspect().state, State::kBroken);
  WriteOld("ha.pid", OwnPid());
  EXPECT_THAT(Inspect().reason, HasSubstr("the driver is running but the host agent is not"));
  WriteOld("qemu.pid", OwnPid());
  EXPECT_EQ(Inspect().state, State::kStopped);
  Write("ha.pid", OwnPid());
  EXPECT_EQ(Inspect().state, State::kBroken);
}

TEST_F(StatusTest, AnAgentThatAnswersWinsOverTheAgeOfTheFiles) {
  WriteOld("ha.pid", OwnPid());
  WriteOld("qemu.pid", OwnPid());
  const FakeHostAgent agent(socket(), kGoodAnswer);
  EXPECT_EQ(Inspect().state, State::kRunning);
  WriteOld("qemu.pid", "999999999");
  EXPECT_THAT(Inspect().reason, HasSubstr("the host agent is running but the driver is not"));
}

TEST_F(StatusTest, BrokenWhenTheAgentOfOldFilesNeverAnswers) {
  WriteOld("ha.pid", OwnPid());
  WriteOld("qemu.pid", OwnPid());
  const auto silent = ListenOnUnix(socket());
  EXPECT_THAT(Inspect().reason, HasSubstr("does not respond in time"));
}

TEST_F(StatusTest, FilesBesideTheMarkOfAnotherBootNameNobody) {
  Write("ha.pid", OwnPid());
  Write("qemu.pid", OwnPid());
  Write("boot-session.tmp", "another\n");
  EXPECT_EQ(Inspect().state, State::kStopped);
  Write("boot-session.tmp", ThisBoot().id + "\n");
  EXPECT_EQ(Inspect().state, State::kBroken);
}

TEST(HostAgent, ReturnsThePortIfItKnowsIt) {
  const TemporaryDirectory directory;
  const FakeHostAgent agent(directory.path() / "ha.sock", kGoodAnswer);
  EXPECT_EQ(QueryHostAgent(directory.path() / "ha.sock"), 60022);
  const FakeHostAgent new_agent(directory.path() / "new.sock", "HTTP/1.0 200 OK\r\n\r\n{}");
  EXPECT_EQ(QueryHostAgent(directory.path() / "new.sock"), 0);
  EXPECT_THROW(QueryHostAgent("/tmp/" + std::string(200, 'x')), support::Error)
      << "too long for a socket";
}

TEST(HostAgent, AFullQueueDoesNotBlock) {
  const TemporaryDirectory directory;
  const auto silent = ListenOnUnix(directory.path() / "ha.sock");
  for (int i = 0; i < 4; ++i) {
    EXPECT_THROW(QueryHostAgent(directory.path() / "ha.sock", std::chrono::milliseconds(30)),
                 support::Error);
  }
}

}  // namespace
}  // namespace lima
