// Faults of the line and of the virtual machine as a whole, against a server in each state.

#include <csignal>

#include "integration/fault_matrix.h"

namespace integration {
namespace {

using testing_support::GuestProcess;

/// The death of the line may not be known yet when the call is made.
constexpr const char* kMeetsTheDeath = "|the connection to the guest was lost";

/// A line that dies takes the calls under way with it. What changes nothing may be done again, on a
/// new line; what may have run is never repeated.
const AllowedEndings kLineLost = {{State::kIdle, "ok" + std::string(kMeetsTheDeath)},
                                  {State::kInACommand, "may have run"},
                                  {State::kInARead, "ok|the connection to the guest was lost"},
                                  {State::kInAWrite, "ok|may have been written"},
                                  {State::kQueued, "ok|the command was not run"}};

void Restart(Cell& cell) {
  cell.instance().Stop();
  cell.instance().Start();
}

TEST_F(FaultMatrix, SessionKilled) {
  Fault fault;
  fault.name = "sshd's process of the session killed";
  fault.strike = [](Cell& cell) {
    for (const pid_t pid : cell.instance().SessionPids()) ::kill(pid, SIGKILL);
  };
  fault.endings = kLineLost;
  fault.may_leave_temporary_file = true;
  Run(fault);
}

TEST_F(FaultMatrix, SshdKilled) {
  Fault fault;
  fault.name = "sshd killed with all its sessions";
  fault.strike = [](Cell& cell) {
    const auto sessions = cell.instance().SessionPids();
    ::kill(cell.instance().sshd_pid(), SIGKILL);
    for (const pid_t pid : sessions) ::kill(pid, SIGKILL);
  };
  fault.mend = Restart;
  fault.ends_after_mend = true;  // calls wait for an sshd for a while
  fault.endings = kLineLost;
  for (const State state : {State::kIdle, State::kInARead, State::kInAWrite, State::kQueued}) {
    fault.endings[state] += "|is stopped; start it on the host with: limactl start";
  }
  fault.may_leave_temporary_file = true;
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineKilledAndStartedOnAnotherPort) {
  Fault fault;
  fault.name = "VM killed, started on another port";
  fault.strike = [](Cell& cell) {
    testing_support::KillEverything(cell.instance());
    for (const char* name : {"ha.pid", "qemu.pid", "ha.sock"}) {
      std::filesystem::remove(cell.instance().directory() / name);
    }
  };
  fault.mend = Restart;
  fault.endings = kLineLost;
  for (const State state : {State::kInARead, State::kInAWrite, State::kQueued}) {
    fault.endings[state] += "|is stopped; start it on the host with: limactl start";
  }
  fault.endings[State::kIdle] =
      std::string("is stopped; start it on the host with: limactl start") + kMeetsTheDeath;
  fault.may_leave_temporary_file = true;
  Run(fault);
}

TEST_F(FaultMatrix, ConnectionReset) {
  Fault fault;
  fault.name = "TCP reset";
  fault.strike = [](Cell& cell) { cell.line().Reset(); };
  fault.endings = kLineLost;
  fault.may_leave_temporary_file = true;
  Run(fault);
}

TEST_F(FaultMatrix, VirtualMachineFrozenAndThawed) {
  Fault fault;
  fault.name = "VM frozen, thawed after a moment";
  fault.strike = [](Cell& cell) { testing_support::Freeze(cell.instance()); };
  fault.mend = [](Cell& cell) {
    testing_support::Thaw(cell.instance());
    cell.Go();
  };
  fault.ends_after_mend = true;
  fault.ends_sessions = false;
  fault.script = Cell::kWaits;
  for (const State state : kStates) fault.endings[state] = "ok";
  Run(fault);
}

}  // namespace
}  // namespace integration
