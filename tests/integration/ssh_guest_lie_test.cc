// SPDX-License-Identifier: Apache-2.0
// ssh::Connect against an sshd that lies.

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "integration/ssh_guest_fixture.h"
#include "ssh/process_run.h"
#include "ssh/sftp/sftp_service.h"
#include "testing/lying_sshd.h"
#include "testing/tcp_proxy.h"
#include "unit/server/ssh/sftp/sftp_bytes.h"

namespace ssh_guest {
namespace {

using ::testing::HasSubstr;
using testing_support::LyingSshd;

/// Terminal escapes, and how they are shown.
constexpr const char* kEscapes = "\x1b[2J\x1b]0;title\x07";
constexpr const char* kShownEscapes = R"(\x1b[2J\x1b]0;title\x07)";

/// Long enough for any machine, but shorter than the program's own timeouts.
constexpr auto kSoon = 10s;

bool IsSoonReady(const std::future<void>& future) {
  return future.wait_for(kSoon) == std::future_status::ready;
}

bool Send(int socket, const std::string& bytes) {
  return ::send(socket, bytes.data(), bytes.size(), 0) > 0;
}

std::uint32_t Number(const std::string& bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8U | static_cast<unsigned char>(byte);
  return number;
}

/// The id of the next request that comes on the channel.
std::uint32_t NextSftpRequest(LyingSshd::Channel& sftp) {
  const std::size_t length = Number(sftp.Read(4));
  return Number(sftp.Read(length).substr(1, 4));
}

void BeginSftp(LyingSshd::Channel& sftp, const std::string& extensions = "") {
  sftp.Grant();
  NextSftpRequest(sftp);
  sftp.Write(sftp_bytes::Version(extensions));
}

class LyingGuest : public ::testing::Test {
 protected:
  /// Through a proxy if its port is given.
  static std::shared_ptr<guest::Guest> Connect(const LyingSshd& sshd, std::uint16_t proxy = 0,
                                               const ssh::ConnectionOptions& options = {}) {
    const std::uint16_t port = proxy == 0 ? sshd.port() : proxy;
    return ssh::Connect({"127.0.0.1", port, "somebody", {sshd.identity_file()}, ""}, options,
                        support::Context().WithTimeout(kSoon));
  }

  /// Runs a process to its end.
  static shell::ProcessEnd EndOf(guest::Guest& guest) {
    const auto recorded = std::make_shared<RecordedProcess>();
    const auto process = guest.Start("command", recorded);
    return recorded->End();
  }

  const support::Context soon_ = support::Context().WithTimeout(kSoon);
};

TEST_F(LyingGuest, ASignalsNameIsCutAndPrintable) {
  const LyingSshd sshd([](LyingSshd::Line& line) {
    LyingSshd::Channel command = line.Accept();
    command.Grant();
    command.SendExitSignal(kEscapes + std::string(20'000, 'A'));
    command.SendEndOfFile();
    command.Close();
  });
  const auto signal = EndOf(*Connect(sshd)).exit_signal;
  ASSERT_TRUE(signal.has_value());
  EXPECT_THAT(*signal, ::testing::StartsWith(std::string(kShownEscapes) + "AAA"));
  EXPECT_LT(signal->size(), 200U);
}

TEST_F(LyingGuest, RequestsOfTheGuestAreDenied) {
  const LyingSshd sshd([](LyingSshd::Line& line) {
    LyingSshd::Channel command = line.Accept();
    command.Grant();
    for (int i = 0; i < 3; ++i) {
      command.Write(line.IsDeniedChannel() ? "no channel, " : "a channel, ");
      command.Write(command.IsDeniedRequest() ? "no request\n" : "a request\n");
    }
    command.SendExitStatus(0);
    command.SendEndOfFile();
    command.Close();
  });
  const auto guest = Connect(sshd);
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("command", recorded);
  EXPECT_EQ(recorded->End().exit_status, 0);
  EXPECT_EQ(recorded->output(),
            "no channel, no request\nno channel, no request\nno channel, no request\n");
}

TEST_F(LyingGuest, OutputBeforeSftpIsGrantedIsBounded) {
  const LyingSshd sshd([](LyingSshd::Line& line) {
    LyingSshd::Channel sftp = line.Accept();
    const std::string piece(16'384, 'x');
    for (std::size_t sent = 0; sent <= 4 * ssh::kMaxSftpPacket; sent += piece.size()) {
      sftp.Write(piece);
    }
  });
  const auto guest = Connect(sshd);
  EXPECT_THAT(Thrown<support::Error>([&] { guest->LStat("/", soon_); }).what(),
              HasSubstr("prints text where SFTP must begin"));
  EXPECT_TRUE(guest->alive());
}

// The reply comes after bytes on standard error. libssh reads 4 KiB at once, so it may receive the
// reply while it sends the rest of the write.
TEST_F(LyingGuest, AReplyThatComesWithTheEndOfTheSftpServerCounts) {
  for (const std::size_t before : {0U, 5'000U, 10'000U}) {
    std::promise<void> requested;
    std::promise<void> replied;
    const LyingSshd sshd([&](LyingSshd::Line& line) {
      LyingSshd::Channel sftp = line.Accept();
      BeginSftp(sftp);
      sftp.Write(sftp_bytes::Handle(NextSftpRequest(sftp), "handle"));
      const std::uint32_t request = NextSftpRequest(sftp);
      requested.set_value();
      sftp.Read(1'000'000);  // of the requests to write: opens the window again
      sftp.WriteError(std::string(before, 'x'));
      sftp.Write(sftp_bytes::Attributes(request, 7));
      sftp.SendEndOfFile();
      sftp.Close();
      replied.set_value();
    });
    testing_support::TcpProxy line(sshd.port());
    const auto guest = Connect(sshd, line.port());
    const auto file = guest->Open("/file", guest::OpenMode::kWrite, 0, soon_);
    auto size = std::async(std::launch::async, [&] { return guest->LStat("/other", soon_).size; });
    ASSERT_TRUE(IsSoonReady(requested.get_future()));
    line.HoldAfter(testing_support::TcpProxy::Direction::kFromTarget, 0);
    auto write =
        std::async(std::launch::async, [&] { file->Write(0, std::string(4'000'000, 'x'), soon_); });
    EXPECT_TRUE(IsSoonReady(replied.get_future()));
    line.Release();
    EXPECT_EQ(size.get(), 7U) << before;
    EXPECT_THROW(write.get(), support::ConnectionLost);
  }
}

TEST_F(LyingGuest, ASilentSftpServerIsGivenUpAndReadsBehindAHungRequestAreRepeated) {
  std::promise<void> hung_came;
  std::promise<void> write_came;
  const LyingSshd sshd([&](LyingSshd::Line& line) {
    LyingSshd::Channel first = line.Accept();
    BeginSftp(first);
    first.Write(sftp_bytes::Handle(NextSftpRequest(first), "handle"));
    NextSftpRequest(first);
    hung_came.set_value();
    NextSftpRequest(first);
    write_came.set_value();
    LyingSshd::Channel second = line.Accept();
    BeginSftp(second);
    while (true) second.Write(sftp_bytes::Attributes(NextSftpRequest(second), 7));
  });
  const auto ample = support::Context().WithTimeout(60s);
  const auto guest = Connect(sshd);
  const auto file = guest->Open("/file", guest::OpenMode::kWrite, 0, ample);
  const Stopwatch watch;
  auto hung = std::async(std::launch::async,
                         [&] { guest->Open("/fifo", guest::OpenMode::kRead, 0, ample); });
  ASSERT_TRUE(IsSoonReady(hung_came.get_future()));
  auto write = std::async(std::launch::async, [&] { file->Write(0, "x", ample); });
  ASSERT_TRUE(IsSoonReady(write_came.get_future()));
  const auto lost = Thrown<support::ConnectionLost>([&] { guest->LStat("/", ample); });
  EXPECT_GE(watch.elapsed(), ssh::SftpChannel::kMaxSilence);
  EXPECT_LT(watch.elapsed(), ssh::SftpChannel::kMaxSilence + 10s);
  EXPECT_STREQ(lost.what(),
               "stat /: the guest's SFTP server does not answer; nothing was changed in the guest");
  EXPECT_FALSE(lost.may_have_run());
  EXPECT_THAT(Thrown<support::Error>([&] { hung.get(); }).what(),
              HasSubstr("open /fifo: the guest's SFTP server does not answer; call again"))
      << "it would hang again";
  EXPECT_TRUE(Thrown<support::ConnectionLost>([&] { write.get(); }).may_have_run());
  EXPECT_EQ(guest->LStat("/", ample).size, 7U);
  EXPECT_FALSE(
      Thrown<support::ConnectionLost>([&] { file->ReadSome(0, 1, ample); }).may_have_run());
}

TEST_F(LyingGuest, ARequestThatIsRefusedOrEndsWithTheChannelIsAnErrorOfTheCall) {
  for (const bool refuses : {true, false}) {
    const LyingSshd sshd([&](LyingSshd::Line& line) {
      while (true) refuses ? line.Accept().Refuse() : line.Accept().Close();
    });
    const auto guest = Connect(sshd);
    const char* const text =
        refuses ? "refuses to run a command" : "closed the channel instead of running a command";
    const shell::ProcessEnd end = EndOf(*guest);
    EXPECT_THAT(end.problem, HasSubstr(text));
    EXPECT_EQ(end.was_started, !refuses);
    EXPECT_FALSE(end.connection_lost);
    CollectedOutput sink;
    EXPECT_THAT(
        Thrown<support::Error>([&] { guest->shells().RunScript({"true"}, sink, soon_); }).what(),
        HasSubstr(text));
    EXPECT_THAT(Thrown<support::Error>([&] { guest->LStat("/", soon_); }).what(),
                HasSubstr(refuses ? "no SFTP subsystem" : "instead of starting SFTP"));
    EXPECT_TRUE(guest->alive());
  }
}

TEST_F(LyingGuest, AProcessWhoseOutputDoesNotEndHasEndedAfterTheGrace) {
  // Floods the client before and when the limit is reached, and writes slowly in between: a flood
  // of ten seconds keeps two processors busy.
  const auto write_without_end = [](LyingSshd::Channel& command) {
    std::promise<void> never;
    const auto over = never.get_future();
    const Stopwatch watch;
    while (true) {
      command.Write("and on ");
      const bool floods =
          watch.elapsed() < 200ms || watch.elapsed() > ssh::ProcessRun::kMaxDrain - 500ms;
      if (!floods) over.wait_for(100ms);
    }
  };
  const auto expect_end = [&](bool is_silent) {
    const LyingSshd sshd([&](LyingSshd::Line& line) {
      LyingSshd::Channel command = line.Accept();
      command.Grant();
      command.SendExitStatus(7);
      if (is_silent) command.Read(1);
      write_without_end(command);
    });
    const auto guest = Connect(sshd);
    const auto limit = is_silent ? ssh::ProcessRun::kExitGrace : ssh::ProcessRun::kMaxDrain;
    const Stopwatch watch;
    EXPECT_EQ(EndOf(*guest).exit_status, 7);
    EXPECT_GE(watch.elapsed(), limit);
    EXPECT_LT(watch.elapsed(), limit + 5s);
  };
  const auto silent = std::async(std::launch::async, expect_end, true);
  expect_end(false);
}

TEST_F(LyingGuest, OutputThatIsSlowerThanTheExitStatusIsNotLost) {
  std::promise<void> never;
  const LyingSshd sshd([over = never.get_future().share()](LyingSshd::Line& line) {
    LyingSshd::Channel command = line.Accept();
    command.Grant();
    command.SendExitStatus(7);
    for (const char* part : {"one ", "two ", "three ", "four ", "five"}) {
      over.wait_for(ssh::ProcessRun::kExitGrace / 2);
      command.Write(part);
    }
    command.SendEndOfFile();
  });
  const auto guest = Connect(sshd);
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("anything", recorded);
  EXPECT_EQ(recorded->End().exit_status, 7);
  EXPECT_EQ(recorded->output(), "one two three four five");
}

TEST_F(LyingGuest, RequestsWithoutReplyEndWithTheirContextAndALateReplyClosesTheChannel) {
  const LyingSshd without_channels([](LyingSshd::Line& line) {
    while (true) line.Chatter();
  });
  const LyingSshd never_ready([](LyingSshd::Line& line) {
    LyingSshd::Channel command = line.Accept();
    command.Grant();
    command.Write("not ready");
    while (true) line.Chatter();
  });
  std::promise<void> ended;
  std::promise<void> closed;
  const LyingSshd late([&](LyingSshd::Line& line) {
    LyingSshd::Channel command = line.Accept();
    ended.get_future().wait();
    command.Grant();
    try {
      command.Read(1);
    } catch (const LyingSshd::Over&) {
      closed.set_value();
    }
  });
  for (const LyingSshd* sshd : {&without_channels, &never_ready, &late}) {
    const auto guest = Connect(*sshd);
    CollectedOutput sink;
    EXPECT_THROW(guest->shells().RunScript({"true"}, sink, support::Context().WithTimeout(300ms)),
                 support::Stopped);
    EXPECT_THROW(guest->LStat("/", support::Context().WithTimeout(300ms)), support::Stopped);
    EXPECT_TRUE(guest->alive());
    if (sshd != &late) continue;
    ended.set_value();
    EXPECT_TRUE(IsSoonReady(closed.get_future()));
  }
}

TEST_F(LyingGuest, AGreetingWithoutEndCostsTheConnectTimeout) {
  const LyingSshd sshd([](int socket) {
    while (Send(socket, "not yet\r\n")) {
    }
  });
  ssh::ConnectionOptions options;
  options.connect_timeout = 100ms;
  EXPECT_THAT(Thrown<support::ConnectionLost>([&] { Connect(sshd, 0, options); }).what(),
              HasSubstr("did not complete the connection in time"));
}

TEST_F(LyingGuest, TheDisconnectMessageIsPrintableAndWhatWaitedForSftpWasNotDone) {
  const LyingSshd sshd([](LyingSshd::Line& line) {
    static_cast<void>(line.Accept());
    line.Disconnect(kEscapes);
  });
  const auto make = guest::Request::MakeDirectory("/d", 0);
  const auto lost = Thrown<support::ConnectionLost>([&] { Execute(*Connect(sshd), make, soon_); });
  EXPECT_THAT(lost.what(), HasSubstr(kShownEscapes));
  EXPECT_FALSE(lost.may_have_run());
  const auto guest = Connect(sshd);
  EXPECT_THAT(EndOf(*guest).problem, HasSubstr(kShownEscapes));
  EXPECT_FALSE(guest->alive());
}

}  // namespace
}  // namespace ssh_guest
