// Processes, scripts and commands over ssh::Connect, and the channels that they take.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <future>
#include <thread>

#include "integration/ssh_guest_fixture.h"
#include "testing/guest_processes.h"

namespace ssh_guest {
namespace {

using guest::OpenMode;
using testing_support::EndsSoon;

TEST_F(SshGuest, RunsAScriptAndACommand) {
  const auto guest = Connect();
  const std::string line = "echo out; echo err >&2; exit 7";
  for (const bool is_script : {true, false, true, false}) {
    CollectedOutput sink;
    const shell::RunEnd end = Run(is_script, *guest, line, sink, minute_);
    EXPECT_EQ(end.exit_status, 7);
    EXPECT_EQ(sink.output, "out\n");
    EXPECT_EQ(sink.error, "err\n");
  }
}

TEST_F(SshGuest, AProcessReportsItsStatusOrSignal) {
  const auto guest = Connect();
  const auto end_of = [&](const std::string& line) {
    const auto recorded = std::make_shared<RecordedProcess>();
    const auto process = guest->Start(line, recorded);
    return recorded->End();
  };
  EXPECT_EQ(end_of("exit 3").exit_status, 3);
  const shell::ProcessEnd killed = end_of("kill -KILL $$");
  EXPECT_EQ(killed.exit_signal, "KILL");
  EXPECT_EQ(killed.exit_status, std::nullopt);
  EXPECT_TRUE(killed.was_started);
}

TEST_F(SshGuest, AProcessIsSentMoreThanTheWindowHolds) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("cat", recorded);
  const std::string bytes = Pattern(5'000'000);
  process->Send(bytes.substr(0, 4'000'000));
  process->Send(bytes.substr(4'000'000));
  process->EndInput();
  EXPECT_EQ(recorded->End().exit_status, 0);
  EXPECT_TRUE(recorded->output() == bytes);
}

TEST_F(SshGuest, AProcessNeedNotReadItsInput) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("head -c 1; exit 3", recorded);
  process->Send(Pattern(20'000'000));
  EXPECT_EQ(recorded->End().exit_status, 3);
}

TEST_F(SshGuest, InputThatIsNotReadCostsNoTime) {
  const auto guest = Connect();
  const auto recorded = std::make_shared<RecordedProcess>();
  const auto process = guest->Start("echo; exec sleep 100", recorded);
  process->Send(Pattern(20'000'000));
  ASSERT_TRUE(Eventually([&] { return !recorded->output().empty(); }));
  CollectedOutput sink;
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  guest->RunScript("true", sink, minute_);
  const auto before = used();
  guest->RunScript("sleep 2", sink, minute_);
  EXPECT_LT(used() - before, 500ms);
}

TEST_F(SshGuest, TakesLongScriptsAndCommands) {
  const auto guest = Connect();
  const std::string line = "x=" + std::string(300'000, 'x') + "; echo ${#x}";
  CollectedOutput sink;
  EXPECT_EQ(guest->RunScript(line, sink, minute_).exit_status, 0);
  EXPECT_EQ(Command(*guest, line, sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "300000\n300000\n");
}

TEST_F(SshGuest, ReturnsThoughABackgroundChildHoldsThePipe) {
  const auto guest = Connect();
  CollectedOutput sink;
  const Stopwatch watch;
  EXPECT_EQ(Command(*guest, "sleep 30 & echo $!; exit 4", sink, minute_).exit_status, 4);
  EXPECT_LT(watch.elapsed(), 10s);
  EXPECT_EQ(::kill(std::stoi(sink.output), SIGKILL), 0) << "the child lives on";
}

TEST_F(SshGuest, EndsWhenTheSinkWantsNoMore) {
  const auto guest = Connect();
  for (const bool is_script : {true, false}) {
    int pieces = 0;
    FunctionSink sink([&](std::string_view) { return ++pieces < 1; });
    const std::string line = "echo $$ >" + Path("pid") + "; exec yes";
    const shell::RunEnd end = Run(is_script, *guest, line, sink, minute_);
    EXPECT_EQ(pieces, 1);
    EXPECT_EQ(end.exit_status, std::nullopt);
    EXPECT_TRUE(EndsSoon(Path("pid")));
  }
}

TEST_F(SshGuest, PassesOutputOfAHundredMegabytesThrough) {
  const auto guest = Connect();
  std::size_t count = 0;
  FunctionSink sink([&](std::string_view bytes) {
    count += bytes.size();
    return true;
  });
  EXPECT_EQ(Command(*guest, "head -c 100000000 /dev/zero", sink, minute_).exit_status, 0);
  EXPECT_EQ(count, 100'000'000U);
}

TEST_F(SshGuest, StoppedCommandsLeaveNoProcess) {
  const auto guest = Connect();
  const std::string line = "sleep 1000 & echo $! >" + Path("pid") + "; echo; wait";
  for (const bool is_script : {true, false}) {
    for (const auto reason : {support::StopReason::kDeadline, support::StopReason::kCancelled}) {
      std::promise<void> started;
      FunctionSink sink([&](std::string_view) {
        started.set_value();
        return true;
      });
      support::StopSource source;
      std::thread stopper([&] {
        started.get_future().wait();
        if (reason == support::StopReason::kCancelled) source.Stop(reason);
      });
      const support::Context context = source.context().WithTimeout(
          reason == support::StopReason::kCancelled ? 60'000ms : 1'000ms);
      const auto stopped =
          Thrown<support::Stopped>([&] { Run(is_script, *guest, line, sink, context); });
      stopper.join();
      EXPECT_EQ(stopped.reason(), reason);
      EXPECT_TRUE(EndsSoon(Path("pid")));
      CollectedOutput next;
      EXPECT_EQ(guest->RunScript("true", next, minute_).exit_status, 0);
      EXPECT_EQ(Command(*guest, "true", next, minute_).exit_status, 0);
    }
  }
}

TEST_F(SshGuest, RunsFiftyCommandsAtOnce) {
  class CountsQueued : public shell::OutputSink {
   public:
    bool OnOutput(shell::Stream, std::string_view bytes) override {
      output += bytes;
      return true;
    }
    void OnQueued() override { was_queued = true; }
    std::string output;
    bool was_queued = false;
  };
  const auto guest = Connect();
  std::vector<std::thread> threads;
  std::vector<CountsQueued> sinks(50);
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    threads.emplace_back(
        [&, i] { Command(*guest, "sleep 0.05; echo " + std::to_string(i), sinks[i], minute_); });
  }
  for (std::thread& thread : threads) thread.join();
  int queued = 0;
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    EXPECT_EQ(sinks[i].output, std::to_string(i) + "\n");
    if (sinks[i].was_queued) ++queued;
  }
  EXPECT_GT(queued, 0);
}

TEST_F(SshGuest, WorksWithThreeChannels) {
  StartInstance({"MaxSessions 3"});
  const auto guest = Connect();
  const auto use = [&](int what) {
    CollectedOutput sink;
    if (what % 3 == 2) {
      EXPECT_NO_THROW(guest->LStat("/", minute_));
    } else {
      EXPECT_EQ(Run(what % 3 == 0, *guest, "echo", sink, minute_).exit_status, 0);
    }
  };
  for (int i = 0; i < 6; ++i) use(i);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 3; ++round) use(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(SshGuest, IdleShellsAreClosedForSftp) {
  StartInstance({"MaxSessions 2"});
  const auto guest = Connect();
  CollectedOutput sink;
  EXPECT_EQ(guest->RunScript("echo", sink, minute_).exit_status, 0);
  EXPECT_EQ(Command(*guest, "echo", sink, minute_).exit_status, 0);
  EXPECT_NO_THROW(guest->LStat("/", minute_));
}

TEST_F(SshGuest, KeepAlivesDoNotDisturbASilentCommand) {
  // As many as in an hour at the real interval. A busy machine may answer late.
  ssh::ConnectionOptions options;
  options.keepalive_interval = 10ms;
  options.keepalive_limit = 1000;
  CollectedOutput sink;
  EXPECT_EQ(Command(*Connect(options), "sleep 2.4; echo late", sink, minute_).exit_status, 0);
  EXPECT_EQ(sink.output, "late\n");
}

}  // namespace
}  // namespace ssh_guest
