// Commands over ssh::Connection, and the channels that they take.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <iostream>
#include <optional>
#include <thread>

#include "integration/ssh_guest_fixture.h"

namespace ssh_guest {
namespace {

using guest::OpenMode;

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

TEST_F(SshGuest, AFileWhoseClosingWasWithdrawnIsClosedAllTheSame) {
  StartInstance({"MaxSessions 1"});
  const auto guest = Connect();
  support::StopSource source;
  source.Stop(support::StopReason::kCancelled);
  auto file = guest->Open(Path("new"), OpenMode::kCreateExclusive, 0600, minute_);
  EXPECT_THROW(file->Close(source.context()), support::Stopped);
  file.reset();
  // The only channel is given to commands once no file is open.
  CollectedOutput sink;
  EXPECT_EQ(Run(*guest, "true", sink, minute_).exit_status, 0);
}

TEST_F(SshGuest, WhoeverHasAFileOpenIsAnsweredWhileACommandWaitsForTheOnlyChannel) {
  StartInstance({"MaxSessions 1"});
  WriteFile("file", "content");
  const auto guest = Connect();
  std::promise<void> queued;
  std::future<guest::CommandResult> waiting;
  auto file = guest->Open(Path("file"), OpenMode::kRead, 0, minute_);
  waiting = std::async(std::launch::async, [&] {
    guest::Command command;
    command.command_line = "true";
    command.on_queued = [&queued] { queued.set_value(); };
    CollectedOutput sink;
    return guest->Run(command, sink, minute_);
  });
  queued.get_future().wait();
  // The first may still come before it is known that the command waits.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(guest->Stat(Path("file"), support::Context().WithTimeout(10s)).size, 7U);
  }
  // Files that are opened by turns would keep the command waiting for ever.
  EXPECT_THROW(guest->Open(Path("file"), OpenMode::kRead, 0, support::Context().WithTimeout(200ms)),
               support::Stopped);
  file.reset();
  EXPECT_EQ(waiting.get().exit_status, 0);
}

TEST_F(SshGuest, AWaitingCommandObeysItsDeadline) {
  StartInstance({"MaxSessions 1"});
  const auto guest = Connect();
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  std::thread holder([&] {
    CollectedOutput sink;
    EXPECT_EQ(Run(*guest, "cat " + Path("fifo"), sink, minute_).exit_status, 0);
  });
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

}  // namespace
}  // namespace ssh_guest
