// SPDX-License-Identifier: Apache-2.0
// However a command is stopped, no process of its session is left in the guest after three seconds,
// even if some ignore TERM.

#include <csignal>

#include "integration/fixture.h"

namespace integration {
namespace {

/// Measured from when the guest's sshd can notice the end.
constexpr auto kGroupEnds = 3s;

/// How soon the program itself exits.
constexpr auto kProgramEnds = 10s;

/// Waits until a process group has exited; returns how long that took.
std::chrono::milliseconds TimeUntilGroupEnds(long process_group) {
  const auto begin = std::chrono::steady_clock::now();
  Eventually([&] { return !GroupLives(process_group); }, 60s);
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin);
}

class CommandEnd : public IntegrationTest {
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
  json EndFamily() { return End(family_); }

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
  EXPECT_EQ(result.value("error", ""),
            "timed out after 4s; its processes have been stopped; a daemon that it started, or "
            "what runs as another user, may still run");
  EXPECT_EQ(result.value("stdout", ""), "before\n");
  EXPECT_EQ(result.value("stderr", ""), "before2\n");
  EXPECT_FALSE(result.contains("exit_code"));
}

TEST_F(CommandEnd, ByDeathOfTheParentThoughInputStaysOpen) {
  StartGuest();
  ChildProcess::Options options = ServerOptions({"serve", "default"});
  options.arguments.insert(
      options.arguments.begin(),
      {"sh", "-c", "exec 3<&0; \"$@\" <&3 3<&- & echo $! >\"$0\"; wait", Path("server").string()});
  McpClient through_parent(options);
  through_parent.Initialize();
  const std::int64_t id = through_parent.BeginCall(
      "run_shell_command", Arguments({"bash", "-c",
                                      "set -m; (trap '' TERM; echo $BASHPID >group.new;"
                                      " mv group.new group; while :; do sleep 0.3; done) & wait"}));
  const long group = std::stol(Await("group"));
  through_parent.process().Signal(SIGKILL);
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  // Not our child: its response and the end of its output show that it has exited.
  EXPECT_THAT(through_parent.WaitForResponse(id).dump(), HasSubstr("have been stopped"));
  EXPECT_THROW(through_parent.NextMessage(kProgramEnds), std::runtime_error);
}

TEST_F(CommandEnd, ByCancel) {
  StartGuest();
  const long group = BeginFamily();
  client().Cancel(family_);
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  EXPECT_EQ(Shell("echo next").value("stdout", ""), "next\n");
}

/// A signal for this program; 0: the end of its input.
class CommandEndBySignal : public CommandEnd, public ::testing::WithParamInterface<int> {
 protected:
  void EndProgram() {
    if (GetParam() != 0) return client().process().Signal(GetParam());
    client().process().standard_input().Close();
  }
};

TEST_P(CommandEndBySignal, OfThisProgram) {
  StartGuest();
  // A process beside it.
  Call("start_process",
       Arguments({"bash", "-c",
                  "trap '' TERM; (while :; do sleep 0.2; done) & echo $! >child; echo $$ >main; "
                  "while :; do sleep 0.2; done"}));
  EXPECT_NE(Await("main") + Await("child"), "");
  const long group = BeginFamily();
  EndProgram();
  EXPECT_LT(TimeUntilGroupEnds(group), kGroupEnds);
  EXPECT_TRUE(EndsSoon(Path("root/main")));
  EXPECT_TRUE(EndsSoon(Path("root/child")));
  ExpectProgramEnds();
  if (GetParam() == 0) {
    EXPECT_EQ(client().process().Wait(0s), 0) << client().log();
  }
}

/// A resident login shell is idle.
TEST_P(CommandEndBySignal, OfThisProgramWithAnIdleShell) {
  const LoopbackInstance& instance = StartGuest();
  Write(root + "/file", "text");
  Shell("true");
  ASSERT_FALSE(GuestProcesses(instance).empty());
  EndProgram();
  ExpectProgramEnds();
  EXPECT_TRUE(Eventually([&] { return GuestProcesses(instance).empty(); }, kGroupEnds))
      << "something is left in the guest";
}

INSTANTIATE_TEST_SUITE_P(Signals, CommandEndBySignal,
                         ::testing::Values(0, SIGTERM, SIGINT, SIGHUP, SIGKILL),
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

TEST_F(CommandEnd, ByTheDeathOfItsShellLeavesOtherCommandsAlone) {
  StartGuest();
  const auto beside = BeginShell("echo >beside; until [ -e go ]; do sleep 0.1; done; echo x");
  Await("beside");
  const json killed =
      Shell("trap '' TERM; echo $$ >killer; kill -KILL $PPID; while :; do sleep 0.3; done");
  EXPECT_TRUE(EndsSoon(root + "/killer"));
  EXPECT_EQ(killed.value("error", ""), "exit status 137");
  EXPECT_EQ(Shell("kill -TERM $$").value("error", ""), "exit status 143");
  Write(root + "/go", "");
  EXPECT_EQ(End(beside), json({{"stdout", "x\n"}, {"stderr", ""}, {"exit_code", 0}}));
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

}  // namespace
}  // namespace integration
