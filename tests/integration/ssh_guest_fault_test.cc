// SPDX-License-Identifier: Apache-2.0
// Faults under ssh::Connect: keys, servers, guests, the connection.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "integration/ssh_guest_fixture.h"
#include "ssh/session_guest.h"

namespace ssh_guest {
namespace {

using guest::OpenMode;
using guest::Request;
using ::testing::HasSubstr;

TEST_F(SshGuest, SurvivesRekeying) {
  StartInstance({"RekeyLimit 512K"});
  const auto guest = Connect();
  const std::string bytes = Pattern(16 * 1024 * 1024);
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto cat = guest->Start("cat", recorded);
  // More than the channel's window holds.
  cat->Send(bytes.substr(0, 10'000'000));
  cat->Send(bytes.substr(10'000'000));
  cat->EndInput();
  guest->Open(Path("big"), OpenMode::kCreateExclusive, 0600, minute_)
      ->WriteAndClose(bytes, {}, minute_);
  EXPECT_TRUE(ReadFile(Path("big")) == bytes);
  const auto file = guest->Open(Path("big"), OpenMode::kRead, 0, minute_);
  EXPECT_TRUE(ReadAll(*file, static_cast<std::size_t>(-1), minute_) == bytes);
  EXPECT_EQ(file->ReadSome(bytes.size(), 10, minute_), "");
  EXPECT_EQ(file->ReadSome(0, 0, minute_), "");
  EXPECT_EQ(recorded->End().exit_status, 0);
  EXPECT_TRUE(recorded->output() == bytes);
}

TEST_F(SshGuest, AFifoThatBlocksTheServerHoldsUpOthersUntilItIsGivenUp) {
  const auto guest = Connect();
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(guest->Open(Path("fifo"), OpenMode::kRead, 0, minute_.WithTimeout(1500ms)),
               support::Stopped);
  const Stopwatch watch;
  EXPECT_FALSE(Thrown<support::ConnectionLost>([&] { guest->LStat("/", minute_); }).may_have_run());
  EXPECT_LT(watch.elapsed(), ssh::SftpChannel::kMaxSilence + 5s);
  EXPECT_EQ(guest->LStat("/", minute_).type, guest::FileType::kDirectory);
  // Unblocks the first server, which waits for a writer.
  EXPECT_TRUE(support::FileDescriptor(::open(Path("fifo").c_str(), O_RDWR)).valid());
}

TEST_F(SshGuest, AWriteToAStuckServerNeverReachesAnotherFile) {
  const auto guest = Connect();
  // More than the channel's window holds: some requests have not been sent.
  const std::string bytes = Pattern(16 * 1024 * 1024);
  const auto first = guest->Open(Path("first"), OpenMode::kCreateExclusive, 0600, minute_);
  const auto second = guest->Open(Path("second"), OpenMode::kCreateExclusive, 0600, minute_);
  const pid_t server = FirstServer();
  ASSERT_EQ(::kill(server, SIGSTOP), 0);
  auto other = std::async(std::launch::async, [&] { first->Write(0, bytes, minute_); });
  EXPECT_THROW(second->Write(0, bytes, minute_.WithTimeout(2s)), support::Stopped);
  EXPECT_THROW(other.get(), support::ConnectionLost);
  for (const char* name : {"third", "fourth"}) {
    const auto file = guest->Open(Path(name), OpenMode::kCreateExclusive, 0600, minute_);
    file->WriteAndClose("content", {}, minute_);
    EXPECT_EQ(std::filesystem::file_size(Path(name)), 7U);
  }
  ::kill(server, SIGKILL);
}

TEST_F(SshGuest, RequestsWaitForAnSftpServerThatIsSilentForAWhile) {
  const auto guest = Connect();
  guest->LStat("/", minute_);
  const pid_t server = FirstServer();
  ASSERT_EQ(::kill(server, SIGSTOP), 0);
  const auto stat = [&] { return guest->LStat("/", minute_).type; };
  auto first = std::async(std::launch::async, stat);
  auto second = std::async(std::launch::async, stat);
  EXPECT_EQ(first.wait_for(2s), std::future_status::timeout);
  ::kill(server, SIGCONT);
  EXPECT_EQ(first.get(), guest::FileType::kDirectory);
  EXPECT_EQ(second.get(), guest::FileType::kDirectory);
}

TEST_F(SshGuest, ATaskThatThrowsEndsTheSessionAndNoOtherTaskIsDropped) {
  StartInstance();
  ssh::SessionGuest loop(Endpoint(), {});
  loop.Open(minute_);
  std::promise<void> posted;
  loop.Post([&] { posted.get_future().wait(); });  // what follows is run together
  loop.Post([] { throw std::runtime_error("a fault of the program"); });
  const auto burst = std::make_shared<ssh::Burst>(std::vector{guest::Request::LStat("/")});
  loop.Post([&] { loop.sftp().Submit(burst); });
  posted.set_value();
  const auto lost = Thrown<support::ConnectionLost>([&] {
    burst->completion().Wait(minute_.WithTimeout(10s), [&](support::StopReason reason) {
      burst->completion().Finish(ssh::MakeFailure<support::Stopped>(reason));
    });
  });
  EXPECT_THAT(lost.what(), HasSubstr("a fault of the program"));
  EXPECT_TRUE(Eventually([&] { return !loop.alive(); }));
}

TEST_F(SshGuest, ARefusedChannelIsAnErrorThatSaysWhatUsesTheOthers) {
  StartInstance({"MaxSessions 2"});
  const auto guest = Connect();
  EXPECT_EQ(guest->LStat("/", minute_).type, guest::FileType::kDirectory);
  const auto recorded = std::make_shared<RecordedProcess>();
  auto running = guest->Start("echo; read x", recorded);
  EXPECT_TRUE(Eventually([&] { return !recorded->output().empty(); }));
  CollectedOutput sink;
  const auto command = [&] { return Command(*guest, "true", sink, minute_).exit_status; };
  const Stopwatch watch;
  EXPECT_THAT(Thrown<support::Error>(command).what(),
              ::testing::AllOf(HasSubstr("of OpenSSH's 10 only 2 are in use (1 command is being"),
                               HasSubstr("Remove MaxSessions from")));
  EXPECT_GE(watch.elapsed(), ssh::ChannelBroker::kRefusalTimeout);
  EXPECT_EQ(guest->LStat("/", minute_).type, guest::FileType::kDirectory);
  running = nullptr;
  EXPECT_EQ(command(), 0) << "a channel is free again";
}

TEST_F(SshGuest, ReportsARefusedPort) {
  StartInstance();
  const ssh::Endpoint endpoint = Endpoint();
  instance_->Stop();
  const auto lost = Thrown<support::ConnectionLost>([&] { ssh::Connect(endpoint, {}, minute_); });
  EXPECT_FALSE(lost.may_have_run());
  EXPECT_THAT(lost.what(), ::testing::AllOf(HasSubstr("refused"), HasSubstr("limactl start")));
}

/// Makes a key pair without a passphrase, unless one is given; returns `file`.
std::string MakeKey(const std::string& file, const std::string& passphrase = "") {
  const auto made = testing_support::RunProcess(
      {.arguments = {"ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", file}});
  EXPECT_EQ(made.exit_code, 0) << made.error;
  return file;
}

TEST_F(SshGuest, NamesEachKeyThatDoesNotWork) {
  StartInstance();
  ssh::Endpoint endpoint = Endpoint();
  WriteFile("nonsense", "no key");
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  endpoint.identity_files = {MakeKey(Path("stranger")),
                             MakeKey(Path("locked"), "secret"),
                             Path("missing"),
                             Path("nonsense"),
                             Path("fifo"),
                             Path("")};
  EXPECT_THAT(
      Thrown<support::Error>([&] { ssh::Connect(endpoint, {}, minute_); }).what(),
      ::testing::AllOf(HasSubstr("stranger: rejected"), HasSubstr("locked: the key file is prot"),
                       HasSubstr("missing: cannot read the key file: No such file"),
                       HasSubstr("nonsense: the file has no private key"),
                       HasSubstr("fifo: the key file is not a regular file"),
                       HasSubstr(Path("") + ": the key file is not a regular file")));
  endpoint.identity_files.push_back(instance_->identity_file());
  EXPECT_TRUE(ssh::Connect(endpoint, {}, minute_)->alive());
}

TEST_F(SshGuest, AConnectionThatIsClosedDuringTheLoginIsReportedAtOnce) {
  StartInstance({"MaxAuthTries 1"});  // sshd hangs up after the first key that it does not know
  ssh::Endpoint endpoint = Endpoint();
  endpoint.identity_files.insert(endpoint.identity_files.begin(), MakeKey(Path("stranger")));
  const auto lost = Thrown<support::ConnectionLost>([&] { ssh::Connect(endpoint, {}, minute_); });
  EXPECT_FALSE(lost.may_have_run());
  EXPECT_THAT(lost.what(), ::testing::AllOf(HasSubstr("closed the connection while the key"),
                                            HasSubstr("stranger was offered")));
}

TEST_F(SshGuest, AKeyThatIsNotEnoughIsReported) {
  StartInstance({"AuthenticationMethods publickey,publickey"});
  EXPECT_THAT(Thrown<support::Error>([&] { static_cast<void>(Connect()); }).what(),
              HasSubstr("accepted, but sshd requires more than a key"));
}

TEST_F(SshGuest, EndpointsAreChecked) {
  StartInstance();
  const auto connect = [&](auto change) {
    ssh::Endpoint endpoint = Endpoint();
    change(endpoint);
    return ssh::Connect(endpoint, {}, minute_);
  };
  const auto error = [&](auto change) {
    return std::string(Thrown<support::Error>([&] { connect(change); }).what());
  };
  EXPECT_TRUE(connect([](ssh::Endpoint& e) { e.ciphers = "none-such@example.com"; })->alive());
  EXPECT_THAT(error([](ssh::Endpoint& e) { e.user = "a;b\x1b[2J"; }),
              AnyOf(HasSubstr(R"(does not accept User a;b\x1b[2J)"),
                    HasSubstr(R"(for user a;b\x1B[2J)")));  // libssh before 2026
}

TEST_F(SshGuest, AFrozenListenerCostsTheConnectTimeout) {
  StartInstance();
  ASSERT_EQ(::kill(instance_->sshd_pid(), SIGSTOP), 0);
  ssh::ConnectionOptions options;
  options.connect_timeout = 300ms;
  const Stopwatch watch;
  EXPECT_THAT(
      Thrown<support::ConnectionLost>([&] { ssh::Connect(Endpoint(), options, minute_); }).what(),
      HasSubstr("in time"));
  EXPECT_THROW(ssh::Connect(Endpoint(), {}, minute_.WithTimeout(300ms)), support::Stopped);
  EXPECT_LT(watch.elapsed(), 5s);
  ::kill(instance_->sshd_pid(), SIGCONT);
}

TEST_F(SshGuest, AFrozenGuestIsNoticedByKeepAlives) {
  StartInstance();
  ssh::ConnectionOptions options;
  // Not shorter: a busy machine may itself be silent for a while.
  options.keepalive_interval = 1s;
  auto guest = Connect(options);
  CollectedOutput sink;
  EXPECT_EQ(Command(*guest, "sleep 5", sink, minute_).exit_status, 0) << "idle is not dead";
  guest->LStat("/", minute_);  // a channel for files is open, so that the next request is sent
  ASSERT_EQ(::kill(instance_->SessionPids().front(), SIGSTOP), 0);
  const auto lost = Thrown<support::ConnectionLost>(
      [&] { Execute(*guest, Request::MakeDirectory(Path("new"), 0700), minute_); });
  EXPECT_TRUE(lost.may_have_run());
  EXPECT_THAT(lost.what(), HasSubstr("keep-alives"));
  EXPECT_FALSE(guest->alive());
  EXPECT_THROW(guest->LStat("/", minute_), support::ConnectionLost);
}

TEST_F(SshGuest, AConnectionToAFrozenGuestEndsPromptly) {
  auto guest = Connect();
  WriteFile("file", "");
  const auto bytes = Pattern(16 * 1024 * 1024);
  auto file = guest->Open(Path("file"), OpenMode::kWrite, 0, minute_);
  ASSERT_EQ(::kill(instance_->SessionPids().front(), SIGSTOP), 0);
  EXPECT_THROW(file->Write(0, bytes, minute_.WithTimeout(300ms)), support::Stopped);
  const Stopwatch watch;
  file.reset();
  guest.reset();
  EXPECT_LT(watch.elapsed(), 3s);
}

TEST_F(SshGuest, ADeathEndsEverythingOnce) {
  const auto guest = Connect();
  CollectedOutput idle;
  Command(*guest, "true", idle, minute_);
  std::promise<void> started;
  shell::FunctionSink sink([&](shell::Stream, std::string_view) {
    started.set_value();
    return true;
  });
  auto script = std::async(std::launch::async, [&] {
    guest->shells().RunScript({"echo started; exec sleep 100"}, sink, minute_);
  });
  started.get_future().wait();
  std::vector<std::shared_ptr<RecordedProcess>> recorded;
  std::vector<std::unique_ptr<shell::Process>> processes;
  for (int i = 0; i < 20; ++i) {  // sshd allows ten: the others wait
    recorded.push_back(std::make_shared<RecordedProcess>());
    processes.push_back(guest->Start("exec cat", recorded.back()));
  }
  ::kill(instance_->SessionPids().front(), SIGKILL);
  EXPECT_FALSE(Thrown<support::ConnectionLost>([&] { script.get(); }).may_have_run());
  EXPECT_TRUE(Eventually([&] { return !guest->alive(); }));
  for (const auto& one : recorded) EXPECT_TRUE(one->End().connection_lost);
  EXPECT_FALSE(recorded.back()->End().was_started);
  processes.clear();
  for (const auto& one : recorded) EXPECT_EQ(one->ends(), 1);
  const auto late = std::make_shared<RecordedProcess>();
  EXPECT_NE(guest->Start("true", late), nullptr);
  EXPECT_EQ(late->ends(), 1);
  EXPECT_FALSE(late->End().was_started);
}

TEST_F(SshGuest, ADeathIsNeverReportedAsARefusal) {
  StartInstance();
  constexpr int kRounds = 20;
  constexpr int kThreads = 8;
  for (int round = 0; round < kRounds; ++round) {
    const auto guest = Connect();
    std::atomic<int> ended = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        CollectedOutput sink;
        try {
          while (true) {
            Command(*guest, "true", sink, minute_);
            ++ended;
          }
        } catch (const support::ConnectionLost&) {
          return;
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
    EXPECT_TRUE(Eventually([&] { return ended > round % kThreads; }));
    for (const pid_t session : instance_->SessionPids()) ::kill(session, SIGKILL);
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace ssh_guest
