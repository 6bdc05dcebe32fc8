// SPDX-License-Identifier: Apache-2.0
// Long-running processes, as child processes of the test.

#include "shell/processes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <thread>

#include "support/errors.h"
#include "unit/server/shell/shells_fixture.h"

namespace shell {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Wait = Processes::Wait;
using std::chrono::milliseconds;

constexpr milliseconds kLong{20'000};

class ProcessesTest : public EachShellTest {
 protected:
  std::string Start(const std::string& script, const std::string& shell = "/bin/bash") {
    return processes_->Start({ShellCommand({"bash", "-c", script}), "bash", work_, shell}, "/host",
                             *launcher_, {}, {});
  }
  std::string Read(const std::string& id, milliseconds time = kLong) {
    return processes_->Read(id, {}, Wait::kForOutput, time, {}).piece.text;
  }
  /// Everything until the end.
  Processes::Output Finish(const std::string& id) {
    return processes_->Read(id, 0, Wait::kForEnd, kLong, {});
  }
  std::string ReadUntil(const std::string& id, const std::string& end) {
    std::string text;
    Eventually([&] {
      text += Read(id, 100ms);
      return text.ends_with(end);
    });
    return text;
  }
  Processes::State Send(const std::string& id, const std::string& input) {
    return processes_->Write(id, {input, false, ""}, kLong, {});
  }
  Processes::State EndInput(const std::string& id) {
    return processes_->Write(id, {"", true, ""}, kLong, {});
  }
  Processes::State Signal(const std::string& id, const char* name, milliseconds time = kLong) {
    return processes_->Write(id, {"", false, name}, time, {});
  }

  std::unique_ptr<Processes> processes_ = std::make_unique<Processes>();
};

TEST_P(ProcessesTest, RunInTheirDirectoryAndEndWithAStatus) {
  const Processes::Output output = Finish(Start("pwd; echo error >&2; echo out; exit 3"));
  EXPECT_EQ(output.piece.text, work_ + "\nerror\nout\n");
  EXPECT_EQ(output.state.exit_status, 3);
  EXPECT_FALSE(output.state.running);
  for (const char* shell : {"/bin/dash", "/bin/sh", ""}) {
    EXPECT_EQ(Finish(Start("echo x", shell)).piece.text, "x\n") << shell;
  }
}

TEST_P(ProcessesTest, GetTheirInputByteForByte) {
  const std::string id = Start("head -c 300000 >copy; od -An -v -tx1 | tr -d ' \\n'");
  Send(id, std::string(300'000, 'x'));
  Send(id, std::string("a\0\n\\\\n%s\t", 9));
  Send(id, "  \xC3\xA9\x7F'\"$x\r\nlast");
  EndInput(id);
  EXPECT_EQ(Finish(id).piece.text, "61000a5c5c6e2573092020c3a97f272224780d0a6c617374");
  EXPECT_EQ(std::filesystem::file_size(work_ + "/copy"), 300'000U);
}

TEST_P(ProcessesTest, AnswerWhatTheyAreSent) {
  const std::string id = Start("while read -r line; do echo \"<$line>\"; done; echo end");
  for (const char* line : {"one", "two"}) {
    EXPECT_TRUE(Send(id, std::string(line) + "\n").running);
    EXPECT_EQ(ReadUntil(id, ">\n"), "<" + std::string(line) + ">\n");
  }
  EXPECT_FALSE(EndInput(id).running);
  EXPECT_EQ(Read(id), "end\n");
  EXPECT_THROW(Send(id, "x"), support::Error);
}

TEST_P(ProcessesTest, AreSignalledWhileTheyDoNotReadTheirInput) {
  const std::string id =
      Start("trap 'echo int' INT; trap 'echo hup' HUP; while :; do sleep 0.05; done");
  const std::string text(Processes::kMaxInput, 'x');
  EXPECT_THAT(
      [&] { Send(id, text + "x"); },
      ThrowsMessage<support::Error>(AllOf(HasSubstr("At most 1048576 bytes of input can wait"),
                                          HasSubstr("0 do, and this call has 1048577"))));
  EXPECT_TRUE(processes_->Write(id, {text, false, ""}, 300ms, {}).running);
  EXPECT_THROW(Send(id, text), support::Error);
  EXPECT_TRUE(Signal(id, "INT", 100ms).running);
  EXPECT_THAT(ReadUntil(id, "int\n"), EndsWith("int\n"));
  Signal(id, "HUP", 100ms);
  EXPECT_THAT(ReadUntil(id, "hup\n"), EndsWith("hup\n"));
  EXPECT_EQ(Signal(id, "KILL").exit_status, 128 + SIGKILL);
}

/// Much more than is kept comes while the first piece is looked at.
TEST_P(ProcessesTest, ShowAllOfAFastOutputToASlowWatcher) {
  const std::string id = Start("echo up; read -r go; seq 1000000; echo up again; exec sleep 60");
  const std::string kEnd = "1000000\nup again\n";
  std::promise<void> is_up;
  std::uint64_t seen = 0;
  std::string end;
  std::thread watcher([&] {
    const auto look = [&](const OutputLog::Piece& piece) {
      if (seen == 0 && !piece.text.empty()) is_up.set_value();  // nothing may have come yet
      EXPECT_EQ(piece.dropped, 0U);
      std::this_thread::sleep_for(1ms);
      seen += piece.text.size();
      end += piece.text;  // which may begin anywhere
      end.erase(0, end.size() - std::min(end.size(), kEnd.size()));
      return end == kEnd;
    };
    processes_->Watch(id, 0, look, kLong, {});
  });
  is_up.get_future().wait();
  Send(id, "go\n");
  watcher.join();
  EXPECT_EQ(seen, 3U + 6'888'896U + 9U);
  EXPECT_EQ(end, kEnd);
}

TEST_P(ProcessesTest, ShowAWatcherWhenNothingComes) {
  const std::string id = Start("printf prompt; read -r go; printf x; exit 3");
  std::vector<std::string> texts;
  const auto look = [&](const OutputLog::Piece& piece) {
    const bool may_come_late = texts.empty() || texts.back().empty();
    if (piece.text.empty() && may_come_late) return false;
    texts.push_back(piece.text);
    return piece.text.empty();
  };
  processes_->Watch(id, 0, look, kLong, {});
  EXPECT_THAT(texts, ElementsAre("prompt", ""));
  Send(id, "go\n");
  processes_->Watch(id, 6, look, kLong, {});
  EXPECT_THAT(texts, ElementsAre("prompt", "", "x", ""));
  processes_->Watch(id, 100, look, 0ms, {});
  EXPECT_EQ(texts.back(), "");
  EXPECT_EQ(Read(id), "promptx") << "nothing was read";
}

TEST_P(ProcessesTest, EndWithAllThatTheyHaveStarted) {
  const std::string id = Start(
      "(trap '' TERM; sh -c 'echo $PPID' >child; while :; do sleep 0.2; done) & "
      "until [ -s child ]; do sleep 0.01; done; echo started");
  const Processes::Output output = Finish(id);
  EXPECT_EQ(output.piece.text, "started\n");
  EXPECT_EQ(output.state.exit_status, 0);
  EXPECT_TRUE(Ends("child"));
}

TEST_P(ProcessesTest, GetTheRestOfTheirOutputThroughAChild) {
  EXPECT_EQ(Finish(Start("exec > >(sleep 0.2; cat); echo late")).piece.text, "late\n");
}

TEST_P(ProcessesTest, AreLostWithTheirConnection) {
  const std::string id = Start("echo before; echo $$ >main; sleep 60");
  EXPECT_EQ(ReadUntil(id, "before\n"), "before\n");
  launcher_->BreakConnection();
  const Processes::Output output = Finish(id);
  EXPECT_FALSE(output.state.running);
  EXPECT_EQ(output.state.exit_status, std::nullopt);
  EXPECT_THAT(output.state.problem, HasSubstr("connection is lost"));
  EXPECT_EQ(output.piece.text, "before\n");
  EXPECT_TRUE(Ends("main"));
}

INSTANTIATE_TEST_SUITE_P(Shells, ProcessesTest, kShells, EachShellTest::NameOf);

class ProcessTable : public ProcessesTest {};
INSTANTIATE_TEST_SUITE_P(Shells, ProcessTable, ::testing::Values("/bin/sh"));

TEST_P(ProcessTable, BoundsHowManyRun) {
  const std::string command = "exec sleep 60; " + std::string(100, 'x');
  std::vector<std::thread> starters;
  for (std::size_t i = 0; i < kMaxProcesses; ++i) {
    starters.emplace_back([&] { Start(command); });
  }
  for (std::thread& starter : starters) starter.join();
  const std::string cut = ("bash -c '" + command).substr(0, 60);
  EXPECT_THAT([&] { Start("true"); },
              ThrowsMessage<support::Error>(
                  AllOf(HasSubstr("p1 " + cut + "; p2 "), EndsWith("; p6 " + cut))));
  Signal("p3", "KILL");
  EXPECT_EQ(Finish(Start("echo x")).piece.text, "x\n");
  EXPECT_EQ(processes_->List().size(), kMaxProcesses + 1);
}

TEST_P(ProcessTable, ForgetsTheOldestThatHaveEnded) {
  for (std::size_t i = 0; i < Processes::kMaxEnded + 2; ++i) Finish(Start("true"));
  Start("true");
  EXPECT_THAT([&] { Finish("p1"); },
              ThrowsMessage<support::Error>(HasSubstr("there is no process p1; known are p")));
}

TEST_P(ProcessTable, AWaitingReadCanBeCancelled) {
  const std::string id = Start("sleep 60");
  support::StopSource source;
  std::thread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(processes_->Read(id, {}, Wait::kForOutput, kLong, source.context()),
               support::Stopped);
  stopper.join();
}

/// A guest without a free channel.
class FullLauncher final : public Launcher {
 public:
  std::unique_ptr<Process> Start(std::string, std::shared_ptr<ProcessEvents> events) override {
    EXPECT_TRUE(events->is_long_running());
    events->OnQueued();
    return std::make_unique<NoProcess>();
  }

 private:
  struct NoProcess final : Process {
    void Send(std::string) override {}
    void EndInput() override {}
  };
};

TEST_P(ProcessTable, AreNotStartedWithoutAChannel) {
  FullLauncher full;
  Start("exec sleep 60");
  EXPECT_THAT(
      [&] {
        processes_->Start(
            {"true", "true", work_, "/bin/sh"}, "", full, [] { return "2 run"; },
            support::Context().WithTimeout(50ms));
      },
      ThrowsMessage<support::Error>(HasSubstr("are used: 2 run. Start it again")));
  EXPECT_EQ(processes_->List().size(), 1U);
}

}  // namespace
}  // namespace shell
