// However a command is stopped, no process of its session is left in the guest after three seconds,
// even if some ignore TERM.

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "integration/command_fixture.h"
#include "testing/eventually.h"
#include "testing/guest_processes.h"

namespace integration {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using testing_support::ChildProcess;
using testing_support::Eventually;
using testing_support::LoopbackInstance;
using testing_support::McpClient;

/// Measured from when the guest's sshd can notice the end.
constexpr auto kGroupEnds = 3s;

/// How soon the program itself exits.
constexpr auto kProgramEnds = 10s;

class CommandEnd : public CommandTest {
 protected:
  /// The main process and one child ignore TERM, another child does not, and a grandchild has lost
  /// its parent. Returns their process group.
  long BeginFamily(const std::string& progress = "") {
    family_ = BeginGroup(
        "trap '' TERM; echo before; echo before2 >&2;"
        "(while :; do sleep 0.3; done) &"
        "(trap - TERM; exec sleep 300) &"
        "(sh -c 'sleep 300 & exit 0') &"
        "sleep 0.1; echo $$ >group.new; mv group.new group;"
        "while :; do sleep 0.3; done",
        progress);
    const long group = std::stol(Await("group"));
    EXPECT_TRUE(GroupLives(group));
    return group;
  }
  json EndFamily() { return End(family_).at("structuredContent"); }
  void CancelFamily() {
    client().SendNotification("notifications/cancelled", {{"requestId", family_}});
  }

  void ExpectProgramEnds() {
    EXPECT_TRUE(client().process().Wait(kProgramEnds).has_value()) << client().log();
  }

  std::int64_t family_ = 0;
};

TEST_F(CommandEnd, ByTimeout) {
  StartGuest({}, {"--command-timeout", "4s"});
  const long group = BeginFamily();
  const json result = EndFamily();
  EXPECT_FALSE(GroupLives(group)) << "before the answer is given";
  EXPECT_EQ(result.value("error", ""), "timed out after 4s; its processes have been stopped");
  EXPECT_EQ(result.value("stdout", ""), "before\n");
  EXPECT_EQ(result.value("stderr", ""), "before2\n");
  EXPECT_FALSE(result.contains("exit_code"));
}

TEST_F(CommandEnd, ByCancel) {
  StartGuest();
  const long group = BeginFamily();
  CancelFamily();
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  EXPECT_EQ(Shell("echo next").value("stdout", ""), "next\n");
}

/// timeout(1) and jobs of a shell make process groups of their own.
TEST_F(CommandEnd, OfTheOtherProcessGroupsOfTheSession) {
  if (!std::filesystem::exists("/proc/self/stat")) {
    GTEST_SKIP() << Skipping("this machine has no /proc, where such groups are looked for");
  }
  StartGuest({}, {"--command-timeout", "4s"});
  for (const char* kind : {"first", "next"}) {
    SCOPED_TRACE(kind);
    const std::string file = kind;
    const json result =
        Run({"bash", "-c",
             "cd . && timeout 300 sh -c 'echo $PPID >\"$0\".timeout; exec sleep 300'"
             " \"$0\" & set -m; sh -c 'trap \"\" TERM; echo $$ >\"$0\".job;"
             " while :; do sleep 0.3; done' \"$0\"; :",
             file});
    EXPECT_FALSE(GroupLives(std::stol(Await(file + ".timeout")))) << "before the answer is given";
    EXPECT_FALSE(GroupLives(std::stol(Await(file + ".job")))) << "though it ignores TERM";
    EXPECT_EQ(result.value("error", ""), "timed out after 4s; its processes have been stopped");
  }
}

TEST_F(CommandEnd, ByEndOfInput) {
  StartGuest();
  const long group = BeginFamily();
  client().process().standard_input().Close();
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  EXPECT_EQ(client().process().Wait(kProgramEnds), 0) << client().log();
}

TEST_F(CommandEnd, ByDeathOfTheParentThoughInputStaysOpen) {
  StartGuest();
  ChildProcess::Options options = ServerOptions({"serve", "default"});
  options.arguments.insert(
      options.arguments.begin(),
      {"sh", "-c", "exec 3<&0; \"$@\" <&3 3<&- & echo $! >\"$0\"; wait", Path("server").string()});
  McpClient through_parent(options);
  through_parent.Initialize();
  const std::int64_t id = through_parent.SendRequest(
      "tools/call",
      {{"name", "run_shell_command"},
       {"arguments", Arguments({"bash", "-c",
                                "set -m; (trap '' TERM; echo $BASHPID >group.new;"
                                " mv group.new group; while :; do sleep 0.3; done) & wait"})}});
  const long group = std::stol(Await("group"));
  through_parent.process().Signal(SIGKILL);
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  // Not our child: its response and the end of its output show that it has exited.
  EXPECT_THAT(through_parent.WaitForResponse(id).dump(), HasSubstr("have been stopped"));
  EXPECT_THROW(through_parent.NextMessage(kProgramEnds), std::runtime_error);
}

class CommandEndBySignal : public CommandEnd, public ::testing::WithParamInterface<int> {};

TEST_P(CommandEndBySignal, OfThisProgram) {
  StartGuest();
  const long group = BeginFamily();
  client().process().Signal(GetParam());
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  ExpectProgramEnds();
}

/// A resident login shell is idle.
TEST_P(CommandEndBySignal, OfThisProgramWithAnIdleShell) {
  const LoopbackInstance& instance = StartGuest();
  Write(root + "/file", "text");
  Shell("true");
  ASSERT_FALSE(testing_support::GuestProcesses(instance).empty());
  client().process().Signal(GetParam());
  ExpectProgramEnds();
  EXPECT_TRUE(
      Eventually([&] { return testing_support::GuestProcesses(instance).empty(); }, kGroupEnds))
      << "something is left in the guest";
}

INSTANTIATE_TEST_SUITE_P(Signals, CommandEndBySignal,
                         ::testing::Values(SIGTERM, SIGINT, SIGHUP, SIGKILL),
                         [](const auto& number) {
                           return "Signal" + std::to_string(number.param);
                         });

TEST_F(CommandEnd, ByDeathOfTheSession) {
  const LoopbackInstance& instance = StartGuest();
  const long group = BeginFamily("family");
  // Output that sshd has not sent yet is lost with it.
  while (!NextProgress("family").starts_with("before")) {
  }
  for (const pid_t pid : instance.SessionPids()) ::kill(pid, SIGKILL);
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  const json result = EndFamily();
  EXPECT_EQ(result.value("stdout", ""), "before\n");
  EXPECT_THAT(result.value("error", ""), HasSubstr("may have run"));
  EXPECT_EQ(Shell("echo next").value("stdout", ""), "next\n");
}

/// As `pkill bash` in a command, which would hit every bash of this machine.
class CommandEndByKilledShell : public CommandEnd {
 protected:
  void SetUp() override {
    CommandEnd::SetUp();
    StartGuest();
    beside_ = Begin({"sh", "-c", "echo $$ >beside; until [ -e go ]; do sleep 0.1; done; echo x"});
    ASSERT_TRUE(Lives("beside"));
  }
  /// Whether the process whose id is in the file lives.
  [[nodiscard]] bool Lives(const std::string& file) const {
    return StatusOf(static_cast<pid_t>(std::stol(Await(file))), "VmRSS") > 0;
  }
  void SignalEveryBash(int number) {
    for (const auto& process : testing_support::GuestProcesses(Instance())) {
      if (process.command.starts_with("/bin/bash ")) ::kill(process.pid, number);
    }
  }
  json EndBeside() { return End(beside_).at("structuredContent"); }

  std::int64_t beside_ = 0;
};

TEST_F(CommandEndByKilledShell, OnlyOfWhatWasSignalled) {
  SignalEveryBash(SIGTERM);
  EXPECT_EQ(Shell("kill -TERM $$").value("error", ""), "signal: TERM");
  Write(root + "/go", "");
  EXPECT_EQ(EndBeside(), json({{"stdout", "x\n"}, {"stderr", ""}, {"exit_code", 0}}));
}

TEST_F(CommandEndByKilledShell, BeforeItIsReported) {
  SignalEveryBash(SIGKILL);
  const json result = EndBeside();
  EXPECT_FALSE(Lives("beside")) << result;
  EXPECT_EQ(result.value("error", ""), "signal: KILL");
  EXPECT_EQ(Shell("echo next").value("stdout", ""), "next\n");
}

TEST_F(CommandEndByKilledShell, OfOneCommandLeavesTheOthersAlone) {
  const json result = Run(
      {"sh", "-c", "trap '' TERM; echo $$ >killer; kill -KILL $PPID; while :; do sleep 0.3; done"});
  EXPECT_FALSE(Lives("killer")) << result;
  EXPECT_EQ(result.value("error", ""), "signal: KILL");
  EXPECT_TRUE(Lives("beside"));
}

TEST_F(CommandEnd, OfManyAtOnce) {
  StartGuest();
  std::vector<long> groups;
  for (int i = 0; i < 6; ++i) {
    const std::string file = "group" + std::to_string(i);
    BeginGroup("trap '' TERM; echo $$ >" + file + "; while :; do sleep 0.3; done");
    groups.push_back(std::stol(Await(file)));
  }
  client().process().Signal(SIGTERM);
  for (const long group : groups) EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  ExpectProgramEnds();
}

TEST_F(CommandEnd, LeavesABackgroundChildOfAFinishedCommandAlone) {
  StartGuest();
  Shell("(echo $(exec sh -c 'echo $PPID') >child; exec sleep 300) & true");
  const auto child = static_cast<pid_t>(std::stol(Await("child")));
  EXPECT_EQ(client().CloseAndWait(kProgramEnds), 0);
  EXPECT_EQ(::kill(child, 0), 0) << "as with limactl shell, it outlives the program";
  ::kill(child, SIGKILL);
}

}  // namespace
}  // namespace integration
