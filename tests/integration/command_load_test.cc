// Many calls at once on one session: a long command delays only calls that need its channel, and
// these report it.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <set>

#include "integration/fixture.h"

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

  std::int64_t BeginRead() { return client().BeginCall("read_file", {{"path", root + "/a.txt"}}); }
};

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
  EXPECT_THAT(NextProgress("waits"), StartsWith("waiting for its turn"));
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
  // Those of the lanes for quick calls (16) and for commands (10), and those of the program.
  constexpr long kMaxThreads = 34;
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

}  // namespace
}  // namespace integration
