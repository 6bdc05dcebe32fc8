// SPDX-License-Identifier: Apache-2.0
// Commands and processes, many at once or with much output: a long one delays only calls that need
// its channel, and these report it.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <set>

#include "integration/fixture.h"
#include "testing/sanitizers.h"
#include "tools/tools.h"

namespace integration {
namespace {

class CommandLoad : public IntegrationTest {
 protected:
  void SetUp() override { MakeFile("root/a.txt", "needle\n"); }

  /// A command that runs until it is cancelled. It creates the file long`number`.
  std::int64_t BeginLong(int number) {
    return BeginShell("echo $$ >long" + std::to_string(number) + "; exec sleep 300");
  }
  /// Waits until so many of them have started.
  void AwaitLong(std::ptrdiff_t wanted) {
    const auto begun = [&] {
      return std::count_if(fs::directory_iterator(root), {}, [](const auto& entry) {
        return entry.path().filename().string().starts_with("long");
      });
    };
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (begun() < wanted) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << begun() << " have begun";
      client().Request("ping");
    }
  }

  std::int64_t BeginReadProcess(int number) {
    return client().BeginCall("read_process",
                              {{"id", "p" + std::to_string(number)}, {"wait_ms", 30'000}});
  }

  std::int64_t BeginRead() { return client().BeginCall("read_file", {{"path", root + "/a.txt"}}); }
};

/// From the tenth on, each needs the channel of an earlier one.
TEST_F(CommandLoad, ManyBackgroundChildrenDelayNoCommand) {
  StartGuest();
  const auto time_of = [&](int count) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(Shell("sleep 20 & :").value("exit_code", -1), 0);
    }
    return std::chrono::steady_clock::now() - begin;
  };
  time_of(3);
  const auto undelayed = time_of(6);
  time_of(1);
  EXPECT_LT(time_of(6), 2 * undelayed + 6 * 300ms);
}

TEST_F(CommandLoad, MoreLongCommandsThanThreadsDelayNoOtherTool) {
  StartGuest();
  std::vector<std::int64_t> long_ones;
  for (int i = 0; i < 24; ++i) long_ones.push_back(BeginLong(i));
  AwaitLong(8);
  EXPECT_EQ(Read(root + "/a.txt"), "needle\n");
  EXPECT_THAT(List(root), Contains("a.txt"));
  EXPECT_EQ(Glob({{"pattern", "*.txt"}, {"path", root}}), std::vector{root + "/a.txt"});
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", root}}), "a.txt:1:needle\n");
  Begin({"true"}, "waits");
  EXPECT_THAT(NextProgress("waits"), StartsWith("waiting: 8 commands run (sh -c 'echo $$ >long"));
  for (const std::int64_t id : long_ones) client().Cancel(id);
  EXPECT_EQ(Shell("echo after").value("stdout", ""), "after\n");
}

/// As with limactl shell, they outlive the program.
TEST_F(CommandLoad, BackgroundChildrenTakeNoChannelAndLiveOn) {
  StartGuest();
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    const json result = Shell("sh -c 'while sleep 1; do echo served; done' & echo $!");
    EXPECT_EQ(result.value("exit_code", -1), 0);
    children.push_back(static_cast<pid_t>(std::stol(result.value("stdout", "0"))));
  }
  EXPECT_EQ(Shell("echo eleventh").value("stdout", ""), "eleventh\n");
  EXPECT_EQ(client().CloseAndWait(), 0);
  for (const pid_t child : children) {
    EXPECT_EQ(::kill(child, 0), 0);
    ::kill(child, SIGKILL);
  }
}

TEST_F(CommandLoad, AThousandCallsTakeBoundedThreadsAndMemory) {
  constexpr int kCalls = 1000;
  constexpr int kReadsForACommand = 9;
  // The lanes for quick calls have 16 and for commands 32; the rest are the program's.
  constexpr long kMaxThreads = 56;
  constexpr long kMaxKilobytes = 200'000;  // resident; sanitizers take some
  // How far responses may be out of order, as calls run side by side.
  constexpr int kSideBySide = 300;
  // More reads than any machine completes before the first command.
  constexpr std::size_t kMaxReads = 20'000;
  StartGuest();
  EXPECT_EQ(Read(root + "/a.txt"), "needle\n");
  const pid_t server = client().process().pid();

  std::map<std::int64_t, int> reads;
  std::set<std::int64_t> commands;
  for (int i = 0; i < kCalls; ++i) {
    if (i % (kReadsForACommand + 1) == 0) {
      commands.insert(Begin({"true"}));
    } else {
      const int number = static_cast<int>(reads.size());
      reads[BeginRead()] = number;
    }
  }
  const std::size_t all_commands = commands.size();
  long most_threads = 0;
  int answered_reads = 0;
  std::size_t commands_left_after_reads = 0;
  int farthest = 0;
  for (int open = kCalls; open > 0; --open) {
    const json answer = client().NextMessage();
    EXPECT_FALSE(answer["result"].value("isError", false)) << answer.dump();
    const std::int64_t id = answer["id"];
    if (commands.erase(id) == 0) {
      farthest = std::max(farthest, std::abs(reads.at(id) - answered_reads));
      ++answered_reads;
      commands_left_after_reads = commands.size();
      // Keeps reads open until the first command has been answered.
      if (commands.size() == all_commands && reads.size() < kMaxReads) {
        const int number = static_cast<int>(reads.size());
        reads[BeginRead()] = number;
        ++open;
      }
    }
    if (open % 50 == 0) most_threads = std::max(most_threads, StatusOf(server, "Threads"));
  }
  EXPECT_TRUE(commands.empty());
  EXPECT_LE(farthest, kSideBySide) << "reads were not answered in the order of their calls";
  EXPECT_LT(reads.size(), kMaxReads) << "commands had to wait for all reads";
  EXPECT_LE(most_threads, kMaxThreads);
  EXPECT_LE(StatusOf(server, "VmHWM"), kMaxKilobytes);
  std::cout << all_commands + reads.size() << " calls: " << most_threads << " threads, "
            << StatusOf(server, "VmHWM") << " kB at most; reads out of order by " << farthest
            << "; " << commands_left_after_reads << " of " << all_commands
            << " commands open when the last read was answered\n";
}

TEST_F(CommandLoad, SixProcessesRunBesideTwoCommandsSearchesAndFilesOnOneConnection) {
  constexpr int kAll = 6;
  StartGuest();
  // They wait for channels that idle shells, and one command, still have.
  std::vector<std::int64_t> commands;
  for (int i = 0; i < 8; ++i) {
    commands.push_back(BeginShell("touch go" + std::to_string(i) + "; until [ -e stop" +
                                  std::to_string(i % 2) + " ]; do sleep 0.05; done"));
  }
  EXPECT_TRUE(Eventually([&] { return List(root).size() == 9; }, 60s));
  const json process = Arguments({"sh", "-c", "read x; echo $x"});
  std::vector<std::int64_t> starts;
  for (int i = 0; i < kAll; ++i) starts.push_back(client().BeginCall("start_process", process));
  Write(root + "/stop0", "");
  Write(root + "/stop1", "");
  for (const std::int64_t id : commands) EXPECT_EQ(End(id).at("exit_code"), 0);
  for (const std::int64_t id : starts) EXPECT_EQ(End(id).at("running"), true);
  EXPECT_THAT(Refusal("start_process", process),
              AllOf(HasSubstr("6 processes run"), HasSubstr("p1 sh -c 'read x; echo $x'; p2")));

  std::vector<std::int64_t> reads;
  for (int i = 1; i <= kAll; ++i) reads.push_back(BeginReadProcess(i));
  commands.clear();
  for (int i = 0; i < 3; ++i) {
    commands.push_back(
        BeginShell("touch c" + std::to_string(i) + "; until [ -e end ]; do sleep 0.05; done"));
  }
  EXPECT_TRUE(Eventually([&] { return Glob({{"pattern", "c?"}, {"path", root}}).size() == 2; }));
  EXPECT_EQ(Read(root + "/a.txt"), "needle\n");
  EXPECT_EQ(Glob({{"pattern", "**/a.txt"}, {"path", root}}).size(), 1U);
  EXPECT_EQ(Glob({{"pattern", "c?"}, {"path", root}}).size(), 2U) << "the third waits";
  EXPECT_EQ(Instance().SessionPids().size(), 1U) << "connections";
  Write(root + "/end", "");
  for (const std::int64_t id : commands) EXPECT_EQ(End(id).at("exit_code"), 0);
  for (int i = 1; i <= kAll; ++i) {
    Call("write_process", {{"id", "p" + std::to_string(i)}, {"input", "done\n"}});
  }
  for (const std::int64_t id : reads) EXPECT_EQ(End(id).at("output"), "done\n");
}

TEST_F(CommandLoad, ProcessesLeaveAChannelToSearches) {
  StartGuest();
  std::vector<std::int64_t> commands;
  for (int i = 0; i < 8; ++i) commands.push_back(BeginLong(i));
  AwaitLong(8);
  const std::int64_t start =
      client().BeginCall("start_process", Arguments({"sleep", "300"}), "process");
  while (!NextProgress("process").starts_with("waiting: 8 commands run (sh -c 'echo $$ >long")) {
  }
  EXPECT_EQ(Glob({{"pattern", "*.txt"}, {"path", root}}), std::vector{root + "/a.txt"});
  client().Cancel(commands.back());
  EXPECT_EQ(End(start).at("running"), true);
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", root}}), "a.txt:1:needle\n");
}

TEST_F(CommandLoad, CancelledReadsOfAProcessMakeRoomForOthers) {
  constexpr int kMoreThanThreads = 40;
  StartGuest();
  Call("start_process", Arguments({"sleep", "300"}));
  std::vector<std::int64_t> reads;
  for (int i = 0; i < kMoreThanThreads; ++i) reads.push_back(BeginReadProcess(1));
  for (const std::int64_t id : reads) client().Cancel(id);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(Call("read_process", {{"id", "p1"}, {"wait_ms", 0}}).at("running"), true);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 15s);
}

class CommandTool : public IntegrationTest {
 protected:
  void SetUp() override { StartGuest(); }
};

TEST_F(CommandTool, TooMuchIsRefusedAndTheSessionGoesOn) {
  const std::size_t room = tools::kMaxShellCommand - std::string("printf %s ").size();
  for (const Command& command :
       {Command{"echo", std::string(1024 * 1024, 'x')}, Command(200'000, "word"),
        Command{"printf", "%s", std::string(room + 1, 'x')}}) {
    EXPECT_THAT(Refusal("run_shell_command", Arguments(command)),
                StartsWith("argument list too long"));
    EXPECT_EQ(Run({"printf", "%s", std::string(room, 'x')}).value("stdout", "").size(), room);
  }
}

TEST_F(CommandTool, NoProcessIsLeftInTheGuestByACommand) {
  if (!fs::exists("/proc/self/fd")) {
    GTEST_SKIP() << Skipping("this machine has no /proc, which a resident login shell needs");
  }
  const auto processes = [&] {
    std::set<pid_t> ids;
    for (const auto& process : GuestProcesses(Instance())) ids.insert(process.pid);
    return ids;
  };
  Run({"true"});
  const std::set<pid_t> after_the_first = processes();
  for (int i = 0; i < 3; ++i) Run({"true"});
  EXPECT_EQ(processes(), after_the_first);
}

TEST_F(CommandTool, ReturnsThoughAChildHoldsItsPipesAndTheChildGoesOn) {
  EXPECT_EQ(Shell("mkfifo go; (read -r x <go; seq 100000 && seq 100000 >&2 && echo x >done) & "
                  "echo started")
                .value("stdout", ""),
            "started\n");
  Run({"sleep", "2.5"});  // longer than ProcessRun::kExitGrace
  Shell("echo go >go");
  EXPECT_EQ(Await("done"), "x\n");
}

TEST_F(CommandTool, ProgressIsTheLastLineAndCannotDriveATerminal) {
  const std::int64_t id = BeginShell(
      R"(until [ -e print ]; do sleep 0.1; done; printf 'first\nlast\033[2J\t\302\233\n'; )"
      "until [ -e go ]; do sleep 0.1; done",
      "token");
  while (!NextProgress("token").starts_with("running, no output yet")) {
  }
  MakeFile("root/print", "");
  std::string progress;
  while (!progress.starts_with("last")) progress = NextProgress("token");
  EXPECT_THAT(progress, StartsWith("last [2J \\xc2\\x9b"));
  MakeFile("root/go", "");
  EXPECT_EQ(End(id).value("exit_code", -1), 0);
}

class CommandOutputSize : public CommandTool {
 protected:
  static constexpr std::size_t kKept = std::size_t{256} * 1024;
  /// Far below what is printed, far above what is kept. AddressSanitizer keeps freed memory
  /// (quarantine_size_mb, 256).
  static constexpr long kMaxKilobytes = testing_support::kAddressSanitizer ? 700'000 : 200'000;
  static constexpr long kFarMore = 2 * 1024 * kMaxKilobytes;
  /// More than the longest line between the halves.
  static constexpr std::size_t kNote = 200;

  void ExpectBounded(const json& result) {
    EXPECT_LE(result.value("stdout", "").size(), kKept + kNote);
    EXPECT_THAT(result.value("stdout", ""), HasSubstr(" bytes left out"));
    const long most = StatusOf(client().process().pid(), "VmHWM");
    EXPECT_LE(most, kMaxKilobytes);
    std::cout << "resident at most " << most << " kB\n";
  }
  json RunLong(const std::string& script) {
    // Half a minute under ThreadSanitizer on an idle machine.
    constexpr std::chrono::minutes kPatience{4};
    return client().EndCall(BeginShell(script), kPatience).at("structuredContent");
  }
};

TEST_F(CommandOutputSize, FarMoreThanTheMemory) {
  const json result =
      RunLong("yes 0123456789abcdef | head -c " + std::to_string(kFarMore) + "; echo; echo end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("0123456789abcdef\n"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("end\n"));
  ExpectBounded(result);
}

TEST_F(CommandOutputSize, ALineOfAHundredMebibytes) {
  const json result = RunLong("printf begin; head -c 104857600 /dev/zero | tr '\\0' x; printf end");
  EXPECT_THAT(result.value("stdout", ""), StartsWith("beginx"));
  EXPECT_TRUE(result.value("stdout", "").ends_with("xend"));
  ExpectBounded(result);
}

}  // namespace
}  // namespace integration
