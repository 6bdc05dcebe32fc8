// SPDX-License-Identifier: Apache-2.0
// Faults of the connection, of the whole virtual machine, and inside the guest, against a server in
// each state: idle, in a command, in a read, in a write, with a waiting command. After each, no
// call takes longer than its deadline, ping is answered at once, a file is the old one or the whole
// new one, no process is left in the guest, and the next call works once the guest does.

#include "integration/fault_matrix.h"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <utility>

#include "testing/background_loop.h"
#include "testing/private_mounts.h"

namespace integration {
namespace {

/// Calls that change nothing are retried on a new connection; calls that may have run are not.
const std::map<State, std::string> kConnectionLost = {
    {State::kIdle, "ok"},
    {State::kInACommand, "may have run"},
    {State::kInARead, "ok"},
    {State::kInAWrite, "ok|may have been written"},
    {State::kQueued, "ok"}};

constexpr const char* kStopped = "|is stopped; start it on the host with: limactl start";

void Restart(Cell& cell) {
  cell.instance.Stop();
  cell.instance.Start();
}

Fault LostConnection(const std::string& name) {
  Fault fault;
  fault.name = name;
  fault.endings = kConnectionLost;
  fault.may_leave_temporary_file = true;
  return fault;
}

/// The connection survives.
Fault FaultInGuest(const std::string& name) {
  Fault fault;
  fault.name = name;
  fault.ends_sessions = false;
  fault.script = Cell::kWaits;
  for (const State state : kStates) fault.endings[state] = "ok";
  return fault;
}

TEST_F(FaultMatrix, SessionKilled) {
  Fault fault = LostConnection("sshd's process of the session killed");
  fault.occur = [](Cell& cell) {
    for (const pid_t pid : cell.instance.SessionPids()) ::kill(pid, SIGKILL);
  };
  Run(fault);
}

TEST_F(FaultMatrix, SshdKilled) {
  Fault fault = LostConnection("sshd killed with all its sessions");
  fault.occur = [](Cell& cell) {
    const auto sessions = cell.instance.SessionPids();
    ::kill(cell.instance.sshd_pid(), SIGKILL);
    for (const pid_t pid : sessions) ::kill(pid, SIGKILL);
  };
  fault.fix = Restart;
  // Calls retry the connect for a while.
  fault.end_after_fix = {State::kIdle, State::kInARead, State::kInAWrite, State::kQueued};
  // While it starts again the instance looks stopped for a moment.
  for (const State state : fault.end_after_fix) {
    fault.endings[state] += kStopped;
  }
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineKilledAndStartedOnAnotherPort) {
  Fault fault = LostConnection("VM killed, started on another port");
  fault.occur = [](Cell& cell) {
    testing_support::KillEverything(cell.instance);
    for (const char* name : {"ha.pid", "qemu.pid", "ha.sock"}) {
      fs::remove(cell.instance.directory() / name);
    }
  };
  fault.fix = Restart;
  fault.endings[State::kIdle] = kStopped + 1;
  for (const State state : {State::kInARead, State::kInAWrite, State::kQueued}) {
    fault.endings[state] += kStopped;
  }
  Run(fault);
}

TEST_F(FaultMatrix, ConnectionReset) {
  Fault fault = LostConnection("TCP reset");
  fault.occur = [](Cell& cell) { cell.line.Reset(); };
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineFrozenAndThawed) {
  Fault fault = FaultInGuest("VM frozen, thawed after a moment");
  fault.occur = [](Cell& cell) { testing_support::Freeze(cell.instance); };
  fault.fix = [](Cell& cell) {
    testing_support::Thaw(cell.instance);
    cell.Go();
  };
  fault.end_after_fix = {kStates.begin(), kStates.end()};
  Run(fault);
}

Fault SilentGuest(const std::string& name) {
  Fault fault = LostConnection(name);
  // The connection counts as lost after a minute, its SFTP channel after 20 s. A call of the file
  // tools ends before that.
  fault.limit = std::chrono::seconds(90);
  for (const State state : {State::kIdle, State::kInARead, State::kInAWrite}) {
    fault.endings[state] += "|SFTP server does not answer|took longer than 50s and was stopped";
  }
  fault.endings[State::kInAWrite] += "|was not changed; the retry timed out";
  return fault;
}

TEST_F(FaultMatrix, VirtualMachineFrozenUntilTheConnectionIsClosed) {
  Fault fault = SilentGuest("VM frozen, thawed when the connection was closed");
  fault.occur = [](Cell& cell) { testing_support::Freeze(cell.instance); };
  fault.fix = [](Cell& cell) {
    cell.WaitUntilServerLeavesLine();
    testing_support::Thaw(cell.instance);
  };
  fault.end_after_fix = {State::kIdle, State::kInARead, State::kInAWrite, State::kQueued};
  Run(fault);
}

TEST_F(FaultMatrix, ConnectionHalfOpen) {
  Fault fault = SilentGuest("TCP half open");
  fault.occur = [](Cell& cell) { cell.line.FallSilent(); };
  // The guest's processes end only when its kernel closes the connection too.
  fault.fix = [](Cell& cell) { cell.line.Reset(); };
  Run(fault);
}

using testing_support::SmallFileSystem;

/// Room for the largest file of a cell once, and not for a second one.
constexpr std::uint64_t kSmall = std::uint64_t{12} * 1024 * 1024;

class FaultMatrixOfFileSystems : public FaultMatrix {
 protected:
  void SetUp() override {
    if (const std::string problem = testing_support::EnterPrivateMounts(); !problem.empty()) {
      GTEST_SKIP() << Skipping("no file system of its own: " + problem);
    }
    fault_.prepare = [&](const fs::path& mount) {
      file_systems_.push_back(std::make_unique<SmallFileSystem>(mount, kSmall));
    };
    fault_.first_call = "write_file";
  }

  std::vector<std::unique_ptr<SmallFileSystem>> file_systems_;
  Fault fault_ = FaultInGuest("file system");
};

TEST_F(FaultMatrixOfFileSystems, Full) {
  fault_.occur = [](Cell& cell) {
    RunProcess({.arguments = {"sh", "-c", "cat /dev/zero >\"$0\"", cell.root / "fill"}});
    cell.Go();
  };
  fault_.fix = [](Cell& cell) { fs::remove(cell.root / "fill"); };
  fault_.script += "; head -c 100000 /dev/zero > more";
  fault_.endings[State::kIdle] = "no space left on the guest's file system";
  fault_.endings[State::kInACommand] = "No space left on device";
  fault_.endings[State::kInAWrite] = "no space left on the guest's file system";
  Run(fault_);
}

TEST_F(FaultMatrixOfFileSystems, TurnsReadOnly) {
  fault_.occur = [](Cell& cell) {
    testing_support::SetReadOnly(cell.root, true);
    cell.Go();
  };
  fault_.fix = [](Cell& cell) { testing_support::SetReadOnly(cell.root, false); };
  fault_.script += "; echo more > more";
  // Linux refuses to remount a file system read-only while a file is open for writing.
  fault_.write_has_begun = false;
  fault_.endings[State::kIdle] = "the file system is mounted read-only in the guest";
  fault_.endings[State::kInACommand] = "Read-only file system";
  fault_.endings[State::kInAWrite] = "the file system is mounted read-only in the guest";
  Run(fault_);
}

TEST_F(FaultMatrix, DirectoryRemoved) {
  Fault fault = FaultInGuest("directory removed");
  fault.occur = [](Cell& cell) {
    fs::remove_all(cell.root);
    cell.Go();
  };
  fault.fix = [](Cell& cell) {
    fs::create_directories(cell.root);
    cell.MakeFiles();
  };
  fault.script += "; ls \"$PWD\"";
  fault.endings[State::kIdle] = "file does not exist";
  fault.endings[State::kInACommand] = "No such file or directory";
  fault.endings[State::kInAWrite] = "file does not exist";
  fault.endings[State::kQueued] = "No such file or directory";
  Run(fault);
}

TEST_F(FaultMatrix, DirectoryRemovedDuringAWalk) {
  constexpr int kRounds = 15;
  MakeFile("root/stays.txt", "needle\n");
  StartGuest();
  Read(root + "/stays.txt");
  const std::vector<std::pair<std::string, json>> walks = {
      {"list_directory", {{"path", root + "/tree/a"}}},
      {"glob", {{"path", root}, {"pattern", "**/*.txt"}}},
      {"search_file_content", {{"path", root}, {"pattern", "needle"}}}};
  {
    const testing_support::BackgroundLoop demolisher([tree = Path("root/tree")] {
      for (const char* name : {"a/b/c", "a/b/d", "a/e/f", "g/h"}) {
        fs::create_directories(tree / name);
        std::ofstream(tree / name / "file.txt") << "needle\n";
      }
      std::error_code in_use;
      fs::remove_all(tree, in_use);
    });
    for (const auto& [tool, arguments] : walks) {
      for (int i = 0; i < kRounds; ++i) {
        const json result = client().CallTool(tool, arguments);
        const std::string text = TextOf(result);
        if (result.value("isError", false)) {
          EXPECT_THAT(text, ContainsRegex("does not exist|No such file|not a directory"));
          EXPECT_EQ(tool, "list_directory") << "the rest of the tree is there: " << text;
        } else if (tool != "list_directory") {
          EXPECT_THAT(text, HasSubstr("stays.txt"));
        }
      }
    }
  }
  EXPECT_EQ(Read(root + "/stays.txt"), "needle\n");
  EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
}

/// Usage: full|free GROUP PID...  Prevents the processes and their children from starting another
/// process, or permits it again. RLIMIT_NPROC does not limit root, and only root can create a
/// control group.
constexpr const char* kLimitProcesses = R"sh(
action=$1 group=$2
shift 2
if [ "$(id -u)" != 0 ]; then
  for pid; do
    limit=0
    [ $action = full ] || limit=$(prlimit --pid $pid --nproc --output HARD --noheadings)
    prlimit --pid $pid --nproc=$limit: || [ ! -e /proc/$pid ] || exit 1
  done
elif [ $action = full ]; then
  mkdir $group || exit 1
  [ -e $group/pids.max ] || { rmdir $group; exit 1; }
  for pid; do echo $pid >$group/cgroup.procs || [ ! -e /proc/$pid ] || exit 1; done
  echo 0 >$group/pids.max
else
  while read pid; do echo $pid >$group/../cgroup.procs; done <$group/cgroup.procs
  rmdir $group
fi
)sh";

TEST_F(FaultMatrix, ProcessTableFull) {
  StartGuest();
  Write(root + "/file", "text");
  const fs::path groups =
      fs::exists("/sys/fs/cgroup/pids") ? "/sys/fs/cgroup/pids" : "/sys/fs/cgroup";
  const auto limit = [&](const std::string& action) {
    std::vector<std::string> arguments = {
        "sh", "-c",   kLimitProcesses,
        "sh", action, groups / ("limactl-mcp-test-" + std::to_string(getpid()))};
    arguments.push_back(std::to_string(Instance().sshd_pid()));
    for (const auto& process : GuestProcesses(Instance())) {
      arguments.push_back(std::to_string(process.pid));
    }
    return RunProcess({.arguments = arguments});
  };
  const auto filled = limit("full");
  if (filled.exit_code != 0) {
    GTEST_SKIP() << Skipping("no process table to fill: " + filled.error);
  }
  const json command = Arguments({"true"});
  for (const auto& [tool, arguments] : {std::pair<std::string, json>{"run_shell_command", command},
                                        {"glob", {{"pattern", "**"}, {"path", root}}}}) {
    EXPECT_THAT(Refusal(tool, arguments), HasSubstr("the guest cannot start another process"));
  }
  Write(root + "/file", "new text");
  EXPECT_EQ(Read(root + "/file"), "new text");
  EXPECT_EQ(limit("free").exit_code, 0);
  EXPECT_EQ(Call("run_shell_command", command).value("exit_code", -1), 0);
  EXPECT_EQ(Glob({{"pattern", "**"}, {"path", root}}), std::vector<std::string>{root + "/file"});
  EXPECT_EQ(client().CloseAndWait(), 0) << client().log();
}

}  // namespace
}  // namespace integration
