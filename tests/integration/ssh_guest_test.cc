// ssh::Connection against a real sshd on a loopback port.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "ssh/connection.h"
#include "testing/child_process.h"
#include "testing/collected_output.h"
#include "testing/loopback_instance.h"
#include "testing/temporary_directory.h"

namespace {

using namespace std::chrono_literals;
using guest::FileErrorCode;
using guest::OpenMode;
using ::testing::HasSubstr;
using testing_support::CollectedOutput;

class Stopwatch {
 public:
  [[nodiscard]] std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Waits for something that another process does; the limit only ends a test that fails.
template <typename Condition>
bool Eventually(Condition condition, std::chrono::milliseconds limit = 10s) {
  const Stopwatch watch;
  while (!condition()) {
    if (watch.elapsed() > limit) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

template <typename Exception, typename Call>
Exception Thrown(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    throw;
  }
  ADD_FAILURE() << "nothing was thrown";
  throw std::logic_error("nothing was thrown");
}

/// Bytes without a short period, so that a piece in the wrong place is seen.
std::string Pattern(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return bytes;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  const auto result =
      testing_support::RunProcess({.arguments = {"pgrep", "-P", std::to_string(parent)}});
  std::vector<pid_t> pids;
  std::istringstream lines(result.output);
  for (pid_t pid = 0; lines >> pid;) pids.push_back(pid);
  return pids;
}

/// The oldest process below `ancestor` without children: the server of the first channel.
pid_t FirstLeafOf(pid_t ancestor) {
  while (true) {
    const std::vector<pid_t> children = ChildrenOf(ancestor);
    if (children.empty()) return ancestor;
    ancestor = children.front();
  }
}

class SshGuest : public ::testing::Test {
 protected:
  void StartInstance(std::vector<std::string> sshd_options = {}) {
    testing_support::LoopbackInstance::Options options;
    options.lima_home = directory_.path() / "lima";
    options.sshd_options = std::move(sshd_options);
    instance_ = std::make_unique<testing_support::LoopbackInstance>(std::move(options));
  }

  ssh::Endpoint Endpoint() const {
    return {"127.0.0.1",
            instance_->port(),
            instance_->user(),
            {instance_->identity_file()},
            "\"^aes128-gcm@openssh.com,aes256-gcm@openssh.com\""};
  }

  std::shared_ptr<ssh::Connection> Connect(const ssh::ConnectionOptions& options = {}) const {
    return ssh::Connection::Open(Endpoint(), options, support::Context());
  }

  std::string Path(const std::string& name) const { return (directory_.path() / name).string(); }

  void WriteFile(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static guest::CommandResult Run(guest::Guest& guest, const std::string& line,
                                  guest::OutputSink& sink, const support::Context& context = {}) {
    guest::Command command;
    command.command_line = line;
    return guest.Run(command, sink, context);
  }

  testing_support::TemporaryDirectory directory_;
  std::unique_ptr<testing_support::LoopbackInstance> instance_;
  const support::Context minute_ = support::Context().WithTimeout(60s);
};

TEST_F(SshGuest, RunsACommand) {
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  const auto result = Run(*guest, "echo out; echo err >&2; exit 7", sink, minute_);
  EXPECT_EQ(result.exit_status, 7);
  EXPECT_EQ(result.exit_signal, std::nullopt);
  EXPECT_EQ(sink.output, "out\n");
  EXPECT_EQ(sink.error, "err\n");
}

TEST_F(SshGuest, ReportsASignalThatEndedTheCommand) {
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  const auto result = Run(*guest, "kill -KILL $$", sink, minute_);
  EXPECT_EQ(result.exit_signal, "KILL");
  EXPECT_EQ(result.exit_status, std::nullopt);
}

TEST_F(SshGuest, WritesStandardInputBeyondTheWindow) {
  StartInstance();
  const auto guest = Connect();
  guest::Command command;
  command.command_line = "cat";
  command.standard_input = Pattern(5'000'000);
  CollectedOutput sink;
  EXPECT_EQ(guest->Run(command, sink, minute_).exit_status, 0);
  EXPECT_TRUE(sink.output == command.standard_input);
}

TEST_F(SshGuest, ACommandNeedNotReadItsStandardInput) {
  StartInstance();
  const auto guest = Connect();
  guest::Command command;
  command.command_line = "head -c 1; exit 3";
  command.standard_input = Pattern(20'000'000);
  CollectedOutput sink;
  EXPECT_EQ(guest->Run(command, sink, minute_).exit_status, 3);
}

TEST_F(SshGuest, TakesACommandLineOfTheGreatestLengthAndRefusesALongerOne) {
  StartInstance();
  const auto guest = Connect();
  std::string line = "echo ok #";
  line.resize(guest::kMaximumCommandLine, 'x');
  CollectedOutput sink;
  EXPECT_EQ(Run(*guest, line, sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "ok\n");
  EXPECT_THROW(Run(*guest, line + "x", sink, minute_), support::CallError);
  EXPECT_THROW(Run(*guest, std::string("a\0b", 3), sink, minute_), support::CallError);
  EXPECT_TRUE(guest->alive());
}

TEST_F(SshGuest, ReturnsWhenTheMainProcessEndsThoughAChildHoldsThePipe) {
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  const Stopwatch watch;
  const auto result = Run(*guest, "sleep 30 & echo $!; exit 4", sink, minute_);
  EXPECT_EQ(result.exit_status, 4);
  EXPECT_LT(watch.elapsed(), 10s);
  EXPECT_EQ(::kill(std::stoi(sink.output), SIGKILL), 0) << "the child lives on";
}

TEST_F(SshGuest, EndsWhenTheSinkWantsNoMore) {
  class UntilFirstPiece : public guest::OutputSink {
   public:
    bool OnOutput(guest::OutputStream, std::string_view) override {
      ++pieces;
      return false;
    }
    int pieces = 0;
  };
  StartInstance();
  const auto guest = Connect();
  UntilFirstPiece sink;
  const auto result = Run(*guest, "yes", sink, minute_);
  EXPECT_EQ(sink.pieces, 1);
  EXPECT_EQ(result.exit_status, std::nullopt);
}

TEST_F(SshGuest, PassesOutputOfAHundredMegabytesThrough) {
  class Counter : public guest::OutputSink {
   public:
    bool OnOutput(guest::OutputStream, std::string_view bytes) override {
      count += bytes.size();
      return true;
    }
    std::size_t count = 0;
  };
  StartInstance();
  const auto guest = Connect();
  Counter sink;
  const Stopwatch watch;
  Run(*guest, "head -c 100000000 /dev/zero", sink, minute_);
  EXPECT_EQ(sink.count, 100'000'000U);
  std::cout << "100 MB of output: " << watch.elapsed().count() << " ms\n";
}

TEST_F(SshGuest, ADeadlineEndsAWaitAtOnceAndTheConnectionLivesOn) {
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  const Stopwatch watch;
  const auto stopped = Thrown<support::Stopped>(
      [&] { Run(*guest, "sleep 5", sink, support::Context().WithTimeout(100ms)); });
  EXPECT_EQ(stopped.reason(), support::StopReason::kDeadline);
  EXPECT_LT(watch.elapsed(), 4s);
  EXPECT_EQ(Run(*guest, "true", sink, minute_).exit_status, 0);
}

TEST_F(SshGuest, ACancelledCommandSeesTheEndOfItsStandardInput) {
  StartInstance();
  const auto guest = Connect();
  guest::Command command;
  command.command_line =
      "exec 3<&0; sleep 1000 </dev/null & p=$!; (cat <&3 >/dev/null; kill $p) & echo $p; wait $p";
  command.hold_standard_input_open = true;
  support::StopSource source;
  class StopAtFirstOutput : public guest::OutputSink {
   public:
    bool OnOutput(guest::OutputStream, std::string_view bytes) override {
      output += bytes;
      if (output.ends_with('\n')) started.set_value();
      return true;
    }
    std::string output;
    std::promise<void> started;
  } sink;
  std::thread canceller([&] {
    sink.started.get_future().wait();
    source.Stop(support::StopReason::kCancelled);
  });
  const auto stopped = Thrown<support::Stopped>(
      [&] { guest->Run(command, sink, source.context().WithTimeout(60s)); });
  canceller.join();
  EXPECT_EQ(stopped.reason(), support::StopReason::kCancelled);
  const pid_t pid = std::stoi(sink.output);
  EXPECT_TRUE(Eventually([&] { return ::kill(pid, 0) != 0; }, 3s)) << "sleep 1000 lives on";
}

TEST_F(SshGuest, ACancelledCommandIsSentTerm) {
  if (::getuid() == 0) {
    GTEST_SKIP() << "sshd refuses signals for root's logins: run as an ordinary user to test this";
  }
  StartInstance();
  const auto guest = Connect();
  CollectedOutput sink;
  EXPECT_THROW(Run(*guest, "echo $$ >" + Path("pid") + "; exec sleep 1000", sink,
                   support::Context().WithTimeout(1s)),
               support::Stopped);
  const pid_t pid = std::stoi(Contents(Path("pid")));
  EXPECT_TRUE(Eventually([&] { return ::kill(pid, 0) != 0; }, 3s)) << "sleep 1000 lives on";
}

TEST_F(SshGuest, RunsFiftyCommandsAtOnce) {
  StartInstance();
  const auto guest = Connect();
  std::atomic<int> queued = 0;
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(50);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&, i] {
      guest::Command command;
      command.command_line = "sleep 0.05; echo " + std::to_string(i);
      command.on_queued = [&] { ++queued; };
      CollectedOutput sink;
      guest->Run(command, sink, minute_);
      outputs[i] = sink.output;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i) + "\n");
  EXPECT_GT(queued, 0) << "sshd allows ten";
}

class SshGuestWithFewChannels : public SshGuest, public ::testing::WithParamInterface<int> {};

TEST_P(SshGuestWithFewChannels, CommandsAndFilesTakeTurns) {
  StartInstance({"MaxSessions " + std::to_string(GetParam())});
  WriteFile("file", "content");
  const auto guest = Connect();
  std::vector<std::thread> threads;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        CollectedOutput sink;
        if (Run(*guest, "echo hi", sink, minute_).exit_status == 0 && sink.output == "hi\n") ++done;
      }
    });
    threads.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        const auto file = guest->Open(Path("file"), OpenMode::kRead, 0, minute_);
        if (file->Read(0, 100, minute_) == "content") ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 24);
}

INSTANTIATE_TEST_SUITE_P(MaxSessions, SshGuestWithFewChannels, ::testing::Values(1, 2, 3));

TEST_F(SshGuest, AWaitingCommandObeysItsDeadline) {
  StartInstance({"MaxSessions 1"});
  const auto guest = Connect();
  std::promise<void> queued;
  std::thread holder([&] {
    CollectedOutput sink;
    EXPECT_EQ(Run(*guest, "cat " + Path("fifo"), sink, minute_).exit_status, 0);
  });
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  // Opens once cat has opened the other end: then the only channel is taken.
  const int fifo = ::open(Path("fifo").c_str(), O_WRONLY);
  EXPECT_GE(fifo, 0);
  CollectedOutput sink;
  EXPECT_THROW(Run(*guest, "true", sink, support::Context().WithTimeout(200ms)), support::Stopped);
  EXPECT_THROW(guest->Stat("/", support::Context().WithTimeout(200ms)), support::Stopped);
  ::close(fifo);
  holder.join();
  EXPECT_EQ(guest->Stat("/", minute_).type, guest::FileType::kDirectory);
}

TEST_F(SshGuest, StatsReadsAndWrites) {
  StartInstance();
  const auto guest = Connect();
  WriteFile("file", "hello");
  const auto attributes = guest->Stat(Path("file"), minute_);
  EXPECT_EQ(attributes.type, guest::FileType::kRegular);
  EXPECT_EQ(attributes.size, 5U);
  EXPECT_EQ(guest->Open(Path("file"), OpenMode::kRead, 0, minute_)->Read(1, 100, minute_), "ello");

  const auto file = guest->Open(Path("new"), OpenMode::kCreateExclusive, 0600, minute_);
  file->Write(0, "written", minute_);
  file->SetAttributes({.permissions = 0640, .size = {}}, minute_);
  EXPECT_EQ(file->Stat(minute_).permissions, 0640U);
  EXPECT_TRUE(file->Sync(minute_));
  file->Close(minute_);
  EXPECT_EQ(Contents(Path("new")), "written");
  guest->Open(Path("new"), OpenMode::kWrite, 0, minute_)->Write(2, "XX", minute_);
  EXPECT_EQ(Contents(Path("new")), "wrXXten");
}

TEST_F(SshGuest, DoesTheOtherFileOperations) {
  StartInstance();
  const auto guest = Connect();
  WriteFile("a", "a");
  WriteFile("b", "b");
  guest->Rename(Path("a"), Path("b"), minute_);
  EXPECT_EQ(Contents(Path("b")), "a");
  guest->MakeDirectory(Path("dir"), 0700, minute_);
  std::filesystem::create_symlink("../b", Path("dir/link"));
  EXPECT_EQ(guest->ReadLink(Path("dir/link"), minute_), "../b");
  EXPECT_EQ(guest->RealPath(Path("dir/link"), minute_), Path("b"));
  EXPECT_EQ(guest->LStat(Path("dir/link"), minute_).type, guest::FileType::kSymlink);
  EXPECT_EQ(guest->Stat(Path("dir/link"), minute_).type, guest::FileType::kRegular);
  guest->SetAttributes(Path("b"), {.permissions = 0755, .size = 0}, minute_);
  EXPECT_EQ(guest->Stat(Path("b"), minute_).permissions, 0755U);
  EXPECT_EQ(Contents(Path("b")), "");
  guest->Unlink(Path("b"), minute_);
  EXPECT_FALSE(std::filesystem::exists(Path("b")));
  const auto status = guest->StatFileSystem(Path("dir"), minute_);
  EXPECT_GT(status.free_bytes, 0U);
  EXPECT_FALSE(status.read_only);
}

TEST_F(SshGuest, AsksSeveralThingsAtOnce) {
  StartInstance();
  const auto guest = Connect();
  WriteFile("file", "content");
  std::filesystem::create_symlink("file", Path("link"));

  const guest::RealFile file = guest->FindRealFile(Path("file"), {});
  EXPECT_EQ(file.path, guest->RealPath(Path("file"), {}));
  EXPECT_EQ(file.attributes.value().size, 7U);
  const guest::RealFile through_link = guest->FindRealFile(Path("link"), {});
  EXPECT_EQ(through_link.path, file.path);
  EXPECT_EQ(through_link.attributes.value().type, guest::FileType::kRegular);
  const guest::RealFile missing = guest->FindRealFile(Path("missing"), {});
  EXPECT_EQ(missing.path, guest->RealPath(Path("missing"), {}));
  EXPECT_FALSE(missing.attributes);
  EXPECT_EQ(
      Thrown<guest::FileError>([&] { (void)guest->FindRealFile(Path("missing/too"), {}); }).code(),
      FileErrorCode::kNotFound);

  for (const std::size_t length : {0U, 1U, 7U, 8U, 100'000U}) {
    const guest::FileBeginning beginning =
        guest->Open(Path("file"), OpenMode::kRead, 0, {})->StatAndRead(length, {});
    EXPECT_EQ(beginning.attributes.size, 7U);
    EXPECT_EQ(beginning.bytes, std::string("content").substr(0, length)) << length;
  }

  ASSERT_EQ(guest->ListSmall(directory_.path().string(), 1U << 30U, {}).value().size(), 3U);
  EXPECT_FALSE(guest->ListSmall(directory_.path().string(), 1, {}));
}

TEST_F(SshGuest, WritesAndClosesAtOnce) {
  StartInstance();
  const auto guest = Connect();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, guest::kLargestWriteAtOnce,
                                 guest::kLargestWriteAtOnce + 1}) {
    const std::string bytes = Pattern(size);
    const std::string path = Path("size" + std::to_string(size));
    const auto file = guest->Open(path, OpenMode::kCreateExclusive, 0600, {});
    file->WriteAndClose(bytes, {});
    EXPECT_EQ(Contents(path), bytes) << size;
    EXPECT_THROW((void)file->Stat({}), guest::FileError) << "it is closed";
  }
  WriteFile("old", "old");
  const auto for_reading = guest->Open(Path("old"), OpenMode::kRead, 0, {});
  EXPECT_THROW(for_reading->WriteAndClose("new", {}), guest::FileError);
  EXPECT_EQ(Contents(Path("old")), "old");
}

TEST_F(SshGuest, SaysWhatIsWrongWithAFile) {
  StartInstance();
  const auto guest = Connect();
  WriteFile("file", "");
  const auto code = [](auto call) { return Thrown<guest::FileError>(call).code(); };
  EXPECT_EQ(code([&] { guest->Stat(Path("none"), minute_); }), FileErrorCode::kNotFound);
  EXPECT_EQ(code([&] { guest->List(Path("none"), minute_); }), FileErrorCode::kNotFound);
  EXPECT_EQ(code([&] { guest->ReadLink(Path("file"), minute_); }), FileErrorCode::kFailure);
  EXPECT_EQ(code([&] { guest->Open(Path("file"), OpenMode::kCreateExclusive, 0600, minute_); }),
            FileErrorCode::kAlreadyExists);
  EXPECT_EQ(code([&] { guest->MakeDirectory(Path("file"), 0700, minute_); }),
            FileErrorCode::kAlreadyExists);
}

TEST_F(SshGuest, ListsADirectoryOfAnySize) {
  StartInstance();
  const auto guest = Connect();
  EXPECT_THAT(guest->List(directory_.path() / "lima" / "_config", minute_), ::testing::SizeIs(2));
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(guest->List(Path("empty"), minute_), ::testing::IsEmpty());
  std::filesystem::create_directory(Path("many"));
  for (int i = 0; i < 2500; ++i) WriteFile("many/" + std::to_string(i), "");
  auto entries = guest->List(Path("many"), minute_);
  EXPECT_EQ(entries.size(), 2500U);
  EXPECT_EQ(entries.front().attributes.type, guest::FileType::kRegular);
}

TEST_F(SshGuest, ReadsAndWritesSixteenMebibytes) {
  StartInstance();
  const auto guest = Connect();
  const std::string bytes = Pattern(16 * 1024 * 1024);
  const auto file = guest->Open(Path("big"), OpenMode::kCreateExclusive, 0600, minute_);
  const Stopwatch write_watch;
  file->Write(0, bytes, minute_);
  std::cout << "16 MiB written: " << write_watch.elapsed().count() << " ms\n";
  file->Close(minute_);
  EXPECT_TRUE(Contents(Path("big")) == bytes);
  const auto again = guest->Open(Path("big"), OpenMode::kRead, 0, minute_);
  const Stopwatch read_watch;
  const std::string read = again->Read(0, bytes.size(), minute_);
  std::cout << "16 MiB read: " << read_watch.elapsed().count() << " ms\n";
  EXPECT_TRUE(read == bytes);
  EXPECT_TRUE(again->Read(0, static_cast<std::size_t>(-1), minute_) == bytes);
  EXPECT_EQ(again->Read(bytes.size(), 10, minute_), "");
  EXPECT_EQ(again->Read(0, 0, minute_), "");
  const auto stat_start = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) guest->Stat(Path("big"), minute_);
  std::cout << "stat: "
            << std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() -
                                                         stat_start)
                       .count() /
                   1000
            << " us\n";
}

TEST_F(SshGuest, OutputIsNotLostWhenSshdIsLateWithItAfterTheEndOfTheCommand) {
  StartInstance();
  const auto guest = Connect();
  guest::Command command;
  // sshd stands still just after it has told of the end, longer than output is waited for.
  command.command_line =
      "sh -c 'sshd=$0; { while kill -0 $$; do :; done; kill -STOP $sshd; printf late; sleep 1; "
      "kill -CONT $sshd; sleep 30; } 2>/dev/null & printf early,' $PPID";
  CollectedOutput sink;
  const Stopwatch watch;
  EXPECT_EQ(guest->Run(command, sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "early,late");
  EXPECT_LT(watch.elapsed(), 20s) << "waited for the child that holds the pipe";
}

TEST_F(SshGuest, SurvivesRekeying) {
  StartInstance({"RekeyLimit 512K"});
  const auto guest = Connect();
  const std::string bytes = Pattern(8 * 1024 * 1024);
  std::thread command([&] {
    guest::Command cat;
    cat.command_line = "cat";
    cat.standard_input = bytes;
    CollectedOutput sink;
    EXPECT_EQ(guest->Run(cat, sink, minute_).exit_status, 0);
    EXPECT_EQ(sink.output.size(), bytes.size());
    EXPECT_TRUE(sink.output == bytes);
  });
  const auto file = guest->Open(Path("big"), OpenMode::kCreateExclusive, 0600, minute_);
  file->Write(0, bytes, minute_);
  file->Close(minute_);
  EXPECT_TRUE(
      guest->Open(Path("big"), OpenMode::kRead, 0, minute_)->Read(0, bytes.size(), minute_) ==
      bytes);
  command.join();
}

TEST_F(SshGuest, AFifoThatBlocksTheServerCostsOneDeadline) {
  StartInstance();
  const auto guest = Connect();
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(guest->Open(Path("fifo"), OpenMode::kRead, 0, minute_.WithTimeout(1500ms)),
               support::Stopped);
  const Stopwatch watch;
  EXPECT_EQ(guest->Stat("/", minute_).type, guest::FileType::kDirectory);
  EXPECT_LT(watch.elapsed(), 5s);
}

TEST_F(SshGuest, AStuckServerIsGivenUpAndReplaced) {
  StartInstance();
  ssh::ConnectionOptions options;
  options.operation_timeout = 3s;  // a slow machine must start an SFTP server within it
  const auto guest = Connect(options);
  WriteFile("file", "content");
  const auto file = guest->Open(Path("file"), OpenMode::kRead, 0, minute_);
  const pid_t server = FirstLeafOf(instance_->SessionPids().front());
  ASSERT_EQ(::kill(server, SIGSTOP), 0);
  const auto lost = Thrown<support::ConnectionLost>([&] { guest->Stat("/", minute_); });
  EXPECT_FALSE(lost.may_have_run()) << "nothing that matters";
  EXPECT_THAT(lost.what(), HasSubstr("does not answer"));
  EXPECT_TRUE(guest->alive());
  EXPECT_EQ(guest->Stat(Path("file"), minute_).size, 7U);
  EXPECT_FALSE(Thrown<support::ConnectionLost>([&] { file->Read(0, 1, minute_); }).may_have_run());
  ::kill(server, SIGKILL);
}

TEST_F(SshGuest, AGuestWithoutSftpRunsCommandsAndSaysWhatIsMissing) {
  StartInstance({"Subsystem other /bin/true"});
  const auto guest = Connect();
  EXPECT_THAT(Thrown<support::CallError>([&] { guest->Stat("/", minute_); }).what(),
              HasSubstr("no SFTP subsystem"));
  CollectedOutput sink;
  EXPECT_EQ(Run(*guest, "true", sink, minute_).exit_status, 0);
}

TEST_F(SshGuest, ALoginProfileThatPrintsIsNamed) {
  WriteFile("profile", "echo Welcome to your VM\nexec cat\n");
  StartInstance({"Subsystem sftp /bin/sh " + Path("profile")});
  const auto guest = Connect();
  EXPECT_THAT(
      Thrown<support::CallError>([&] { guest->Stat("/", minute_); }).what(),
      ::testing::AllOf(HasSubstr("login profile prints text"), HasSubstr("Welcome to your VM")));
  EXPECT_TRUE(guest->alive());
}

TEST_F(SshGuest, AnSftpServerThatEndsAtOnceIsNamed) {
  StartInstance({"Subsystem sftp /bin/false"});
  const auto guest = Connect();
  EXPECT_THAT(Thrown<support::CallError>([&] { guest->Stat("/", minute_); }).what(),
              HasSubstr("ended before it had begun"));
}

TEST_F(SshGuest, ReportsARefusedPort) {
  StartInstance();
  const ssh::Endpoint endpoint = Endpoint();
  instance_->Stop();
  const auto lost =
      Thrown<support::ConnectionLost>([&] { ssh::Connection::Open(endpoint, {}, minute_); });
  EXPECT_FALSE(lost.may_have_run());
  EXPECT_THAT(lost.what(), ::testing::AllOf(HasSubstr("refused"), HasSubstr("limactl start")));
}

TEST_F(SshGuest, NamesEachKeyThatDoesNotWork) {
  StartInstance();
  ssh::Endpoint endpoint = Endpoint();
  const auto make_key = [&](const std::string& name, const std::string& passphrase) {
    const auto made = testing_support::RunProcess(
        {.arguments = {"ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", Path(name)}});
    EXPECT_EQ(made.exit_code, 0) << made.error;
    return Path(name);
  };
  WriteFile("nonsense", "no key");
  endpoint.identity_files = {make_key("stranger", ""), make_key("locked", "secret"),
                             Path("missing"), Path("nonsense")};
  EXPECT_THAT(
      Thrown<support::CallError>([&] { ssh::Connection::Open(endpoint, {}, minute_); }).what(),
      ::testing::AllOf(HasSubstr("stranger: not accepted"),
                       HasSubstr("locked: the key file is prot"),
                       HasSubstr("missing: cannot read the key file: No such file"),
                       HasSubstr("nonsense: the file holds no private key")));
  endpoint.identity_files.push_back(instance_->identity_file());
  EXPECT_TRUE(ssh::Connection::Open(endpoint, {}, minute_)->alive());
}

TEST_F(SshGuest, AnIncompleteEndpointNeverGetsADefault) {
  StartInstance();
  ssh::Endpoint endpoint = Endpoint();
  endpoint.port = 0;
  EXPECT_THAT(
      Thrown<support::CallError>([&] { ssh::Connection::Open(endpoint, {}, minute_); }).what(),
      HasSubstr("Port"));
}

TEST_F(SshGuest, AFrozenListenerCostsTheConnectTimeout) {
  StartInstance();
  ASSERT_EQ(::kill(instance_->sshd_pid(), SIGSTOP), 0);
  ssh::ConnectionOptions options;
  options.connect_timeout = 300ms;
  const Stopwatch watch;
  EXPECT_THAT(Thrown<support::ConnectionLost>([&] {
                ssh::Connection::Open(Endpoint(), options, minute_);
              }).what(),
              HasSubstr("in time"));
  EXPECT_THROW(ssh::Connection::Open(Endpoint(), {}, minute_.WithTimeout(300ms)), support::Stopped);
  EXPECT_LT(watch.elapsed(), 5s);
  ::kill(instance_->sshd_pid(), SIGCONT);
}

TEST_F(SshGuest, AFrozenGuestIsNoticedByKeepAlives) {
  StartInstance();
  ssh::ConnectionOptions options;
  options.keepalive_interval = 100ms;
  auto guest = Connect(options);
  CollectedOutput sink;
  EXPECT_EQ(Run(*guest, "sleep 1", sink, minute_).exit_status, 0) << "idle is not dead";
  ASSERT_EQ(::kill(instance_->SessionPids().front(), SIGSTOP), 0);
  const auto lost = Thrown<support::ConnectionLost>([&] { Run(*guest, "true", sink, minute_); });
  EXPECT_THAT(lost.what(), HasSubstr("sign of life"));
  EXPECT_FALSE(guest->alive());
  EXPECT_THROW(guest->Stat("/", minute_), support::ConnectionLost);
}

TEST_F(SshGuest, AConnectionToAFrozenGuestEndsPromptly) {
  StartInstance();
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

TEST_F(SshGuest, ADeathDuringACommandIsReportedAsMayHaveRun) {
  StartInstance();
  const auto guest = Connect();
  class KillAtFirstOutput : public guest::OutputSink {
   public:
    explicit KillAtFirstOutput(pid_t pid) : pid_(pid) {}
    bool OnOutput(guest::OutputStream, std::string_view) override {
      ::kill(pid_, SIGKILL);
      return true;
    }

   private:
    pid_t pid_;
  } sink(instance_->SessionPids().front());
  guest::Command command;
  command.command_line = "echo started; exec cat";
  command.hold_standard_input_open = true;
  const auto lost = Thrown<support::ConnectionLost>([&] { guest->Run(command, sink, minute_); });
  EXPECT_TRUE(lost.may_have_run());
  EXPECT_THAT(lost.what(), HasSubstr("may have run"));
  EXPECT_TRUE(Eventually([&] { return !guest->alive(); }));
  EXPECT_FALSE(
      Thrown<support::ConnectionLost>([&] { guest->Run(command, sink, minute_); }).may_have_run());
}

TEST_F(SshGuest, ADeathDuringAWriteIsReportedAsMayHaveRun) {
  StartInstance();
  const auto guest = Connect();
  const std::string bytes = Pattern(64 * 1024 * 1024);
  const auto file = guest->Open(Path("file"), OpenMode::kCreateExclusive, 0600, minute_);
  std::thread killer([&] {
    EXPECT_TRUE(Eventually([&] { return std::filesystem::file_size(Path("file")) > 0; }));
    ::kill(instance_->SessionPids().front(), SIGKILL);
  });
  std::optional<bool> may_have_run;
  try {
    // Again and again, so that the death always meets one.
    while (true) file->Write(0, bytes, minute_);
  } catch (const support::ConnectionLost& lost) {
    may_have_run = lost.may_have_run();
  }
  killer.join();
  EXPECT_EQ(may_have_run, true);
}

TEST_F(SshGuest, ADeathDuringAReadEndsTheRead) {
  StartInstance();
  const auto guest = Connect();
  const auto zero = guest->Open("/dev/zero", OpenMode::kRead, 0, minute_);
  const auto pid = instance_->SessionPids().front();
  std::atomic<int> reads = 0;
  std::thread killer([&] {
    EXPECT_TRUE(Eventually([&] { return reads > 2; }));
    ::kill(pid, SIGKILL);
  });
  const auto lost = Thrown<support::ConnectionLost>([&] {
    while (true) {
      static_cast<void>(zero->Read(0, 8 * 1024 * 1024, minute_));
      ++reads;
    }
  });
  killer.join();
  EXPECT_FALSE(lost.may_have_run());
  EXPECT_THAT(lost.what(), HasSubstr("nothing was changed"));
}

TEST_F(SshGuest, ManyThreadsUseOneConnection) {
  StartInstance();
  const auto guest = Connect();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const std::string path = Path("file" + std::to_string(i));
      const std::string bytes = Pattern(300'000 + static_cast<std::size_t>(i));
      const auto file = guest->Open(path, OpenMode::kCreateExclusive, 0600, minute_);
      file->Write(0, bytes, minute_);
      file->Close(minute_);
      const auto again = guest->Open(path, OpenMode::kRead, 0, minute_);
      EXPECT_TRUE(again->Read(0, bytes.size(), minute_) == bytes);
      // Withdrawn at any point of their lives.
      for (int delay = 0; delay < 20; ++delay) {
        try {
          guest->Stat(path, minute_.WithTimeout(std::chrono::microseconds(delay * 20)));
        } catch (const support::Stopped&) {
        }
      }
      guest->Unlink(path, minute_);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
