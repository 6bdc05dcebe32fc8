// SPDX-License-Identifier: Apache-2.0
// A guest that cannot be reached at first, is started, or comes back changed.

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <csignal>
#include <optional>

#include "integration/fixture.h"
#include "testing/lying_sshd.h"
#include "testing/sockets.h"

namespace integration {
namespace {

using testing_support::LyingSshd;

/// Longer than a call may take at worst.
constexpr std::chrono::seconds kPatience{100};

/// Until the client leaves.
void StaySilent(int socket, std::atomic<int>& accepted) {
  ++accepted;
  for (char byte = 0; ::recv(socket, &byte, 1, 0) > 0;) {
  }
}

class Healing : public IntegrationTest {
 protected:
  Healing() { MakeFile("root/a.txt", "text"); }

  std::int64_t BeginRead() { return client().BeginCall("read_file", {{"path", file}}, "token"); }
  std::string EndRead(std::int64_t id) { return TextOf(client().EndCall(id, kPatience)); }

  void ExpectAnsweredAtOnce() {
    EXPECT_EQ(client().Request("ping", json::object(), kPromptly).at("result"), json::object());
    const json list = client().Request("tools/list", json::object(), kPromptly);
    EXPECT_FALSE(list.at("result").at("tools").empty());
  }

  const std::string file = root + "/a.txt";
};

TEST_F(Healing, DroppedConnectionsAreRetried) {
  LoopbackInstance& instance = StartRoot();
  constexpr int kDropped = 4;
  std::atomic<int> dropped = 0;
  const LyingSshd sshd([&](int) {
    if (++dropped == kDropped)
      instance.WritePort(instance.port());  // as if Lima had written ssh.config
  });
  Instance().WritePort(sshd.port());
  Serve();
  EXPECT_EQ(Read(file), "text");
  EXPECT_EQ(dropped, kDropped);
}

TEST_F(Healing, AnSshdWithTooManyUnfinishedLoginsIsRetried) {
  const LoopbackInstance& instance = StartRoot({"MaxStartups 1"});
  auto unfinished = testing_support::ConnectToLoopback(instance.port());
  std::array<char, 4> banner{};
  ASSERT_GT(::read(unfinished.get(), banner.data(), banner.size()), 0);
  Serve();
  const auto call = BeginRead();
  EXPECT_TRUE(Eventually(
      [&] {
        const std::string log = ReadFile(instance.directory() / "sshd.log");
        return log.find("drop connection") != std::string::npos ||
               log.find("MaxStartups") != std::string::npos;
      },
      kPatience));
  unfinished.Close();
  EXPECT_THAT(EndRead(call), HasSubstr("text"));
}

TEST_F(Healing, ASilentGuestDelaysNothingElse) {
  LoopbackInstance& instance = StartRoot();
  std::atomic<int> accepted = 0;
  std::optional<LyingSshd> sshd([&](int socket) { StaySilent(socket, accepted); });
  Instance().WritePort(sshd->port());
  Serve();
  const auto call = BeginRead();
  ASSERT_TRUE(Eventually([&] { return accepted > 0; }, kPatience));
  ExpectAnsweredAtOnce();

  // A cancelled call returns at once; the other one gets its guest.
  const auto cancelled = BeginRead();
  client().Cancel(cancelled);
  ExpectAnsweredAtOnce();
  instance.WritePort(instance.port());
  sshd.reset();
  EXPECT_THAT(EndRead(call), HasSubstr("text"));
}

/// A call waits for a connection to an sshd that never answers.
class ConnectingInSilence : public Healing {
 protected:
  ConnectingInSilence() {
    StartRoot();
    Instance().WritePort(sshd_.port());
    Serve();
    BeginRead();
    EXPECT_TRUE(Eventually([&] { return accepted_ > 0; }, kPatience));
  }

 private:
  std::atomic<int> accepted_ = 0;
  LyingSshd sshd_{[this](int socket) { StaySilent(socket, accepted_); }};
};

// A call that was piped in waits as long as a connection may take.
TEST_F(ConnectingInSilence, EndsWithItsInputOnceNoConnectionCame) {
  EXPECT_EQ(client().CloseAndWait(kPatience), 0);
}

TEST_F(ConnectingInSilence, EndsAtOnceOnASignal) {
  client().process().Signal(SIGTERM);
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
}

/// `--start`, with a script in limactl's place.
class StartingInstance : public Healing {
 protected:
  /// Serves the stopped instance.
  void ServeStopped(const std::string& script) {
    StartRoot().Stop();
    MakeProgram("bin/limactl", "PATH=/usr/bin:/bin\ncd " + Path().string() + "\n" + script);
    auto options = ServerOptions({"serve", "default", "--start"});
    options.environment["PATH"] = Path("bin").string();
    ServeWith(options).Initialize();
  }
};

/// Records each start, and exits with 0 once the test has started the instance.
constexpr const char* kStartsWhenTold =
    "echo \"$@\" >> asked\necho words of limactl\n"
    "while [ ! -e up ]; do sleep 0.02; done\necho done > ended\n";

TEST_F(StartingInstance, IsStartedOnceForAllCallsWithProgress) {
  ServeStopped(kStartsWhenTold);
  const auto first = BeginRead();
  const auto second = BeginRead();
  std::string progress;
  while (progress.find("is being started") == std::string::npos) progress = NextProgress("token");
  EXPECT_THAT(progress, AllOf(HasSubstr("\"default\""), HasSubstr("`limactl start default`"),
                              HasSubstr("s)")));
  ExpectAnsweredAtOnce();
  Instance().Start();
  MakeFile("up", "");
  EXPECT_THAT(EndRead(first), HasSubstr("text"));
  EXPECT_THAT(EndRead(second), HasSubstr("text"));
  EXPECT_EQ(ReadFile(Path("asked")), "start --tty=false default\n");
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
}

TEST_F(StartingInstance, StartGoesOnAfterACancelAndAfterTheProgramExits) {
  ServeStopped(kStartsWhenTold);
  const auto call = BeginRead();
  ASSERT_TRUE(Eventually([&] { return fs::exists(Path("asked")); }, kPatience));
  client().Cancel(call);
  ExpectAnsweredAtOnce();
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
  EXPECT_FALSE(fs::exists(Path("ended")));
  MakeFile("up", "");
  EXPECT_TRUE(Eventually([&] { return fs::exists(Path("ended")); }, kPatience))
      << "the start was killed";
}

}  // namespace
}  // namespace integration
