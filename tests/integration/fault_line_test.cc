// Faults of the connection and of the whole virtual machine, against a server in each state.

#include <csignal>

#include "integration/fault_matrix.h"

namespace integration {
namespace {

/// Calls that change nothing are retried on a new connection; calls that may have run are not.
const AllowedEndings kConnectionLost = {{State::kIdle, "ok"},
                                        {State::kInACommand, "may have run"},
                                        {State::kInARead, "ok"},
                                        {State::kInAWrite, "ok|may have been written"},
                                        {State::kQueued, "ok"}};

void Restart(Cell& cell) {
  cell.instance().Stop();
  cell.instance().Start();
}

Fault LostConnection(const std::string& name) {
  Fault fault;
  fault.name = name;
  fault.endings = kConnectionLost;
  fault.may_leave_temporary_file = true;
  return fault;
}

TEST_F(FaultMatrix, SessionKilled) {
  Fault fault = LostConnection("sshd's process of the session killed");
  fault.occur = [](Cell& cell) {
    for (const pid_t pid : cell.instance().SessionPids()) ::kill(pid, SIGKILL);
  };
  Run(fault);
}

TEST_F(FaultMatrix, SshdKilled) {
  Fault fault = LostConnection("sshd killed with all its sessions");
  fault.occur = [](Cell& cell) {
    const auto sessions = cell.instance().SessionPids();
    ::kill(cell.instance().sshd_pid(), SIGKILL);
    for (const pid_t pid : sessions) ::kill(pid, SIGKILL);
  };
  fault.fix = Restart;
  // Calls retry the connect for a while.
  fault.end_after_fix = {State::kIdle, State::kInARead, State::kInAWrite, State::kQueued};
  // While it starts again the instance looks stopped for a moment.
  for (const State state : fault.end_after_fix) {
    fault.endings[state] += "|is stopped; start it on the host with: limactl start";
  }
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineKilledAndStartedOnAnotherPort) {
  Fault fault = LostConnection("VM killed, started on another port");
  fault.occur = [](Cell& cell) {
    testing_support::KillEverything(cell.instance());
    for (const char* name : {"ha.pid", "qemu.pid", "ha.sock"}) {
      fs::remove(cell.instance().directory() / name);
    }
  };
  fault.fix = Restart;
  fault.endings[State::kIdle] = "is stopped; start it on the host with: limactl start";
  for (const State state : {State::kInARead, State::kInAWrite, State::kQueued}) {
    fault.endings[state] += "|is stopped; start it on the host with: limactl start";
  }
  Run(fault);
}

TEST_F(FaultMatrix, ConnectionReset) {
  Fault fault = LostConnection("TCP reset");
  fault.occur = [](Cell& cell) { cell.line().Reset(); };
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineFrozenAndThawed) {
  Fault fault;
  fault.name = "VM frozen, thawed after a moment";
  fault.occur = [](Cell& cell) { testing_support::Freeze(cell.instance()); };
  fault.fix = [](Cell& cell) {
    testing_support::Thaw(cell.instance());
    cell.Go();
  };
  fault.end_after_fix = {kStates.begin(), kStates.end()};
  fault.ends_sessions = false;
  fault.calls.script = Cell::kWaits;
  for (const State state : kStates) fault.endings[state] = "ok";
  Run(fault);
}

Fault SilentGuest(const std::string& name) {
  Fault fault = LostConnection(name);
  // The connection counts as lost after a minute. A call of the file tools ends before that.
  fault.limit = std::chrono::seconds(90);
  for (const State state : {State::kIdle, State::kInARead, State::kInAWrite}) {
    fault.endings[state] += "|took longer than 50s and was stopped";
  }
  return fault;
}

TEST_F(FaultMatrix, VirtualMachineFrozenUntilTheConnectionIsClosed) {
  Fault fault = SilentGuest("VM frozen, thawed when the connection was closed");
  fault.occur = [](Cell& cell) { testing_support::Freeze(cell.instance()); };
  fault.fix = [](Cell& cell) {
    cell.WaitUntilServerLeavesLine();
    testing_support::Thaw(cell.instance());
  };
  fault.end_after_fix = {State::kIdle, State::kInARead, State::kInAWrite, State::kQueued};
  Run(fault);
}

TEST_F(FaultMatrix, ConnectionHalfOpen) {
  Fault fault = SilentGuest("TCP half open");
  fault.occur = [](Cell& cell) { cell.line().FallSilent(); };
  // The guest's processes end only when its kernel closes the connection too.
  fault.fix = [](Cell& cell) { cell.line().Reset(); };
  Run(fault);
}

}  // namespace
}  // namespace integration
