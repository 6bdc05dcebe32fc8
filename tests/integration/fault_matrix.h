// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "integration/fixture.h"
#include "testing/tcp_proxy.h"

namespace integration {

/// What a server does when a fault occurs.
enum class State { kIdle, kInACommand, kInARead, kInAWrite, kQueued };

inline constexpr std::array kStates = {State::kIdle, State::kInACommand, State::kInARead,
                                       State::kInAWrite, State::kQueued};

/// How a call ended.
struct Ending {
  bool well = false;  ///< the tool succeeded; a command exited with 0
  std::string text;   ///< of the error or the result
};

class Cell;

/// A fault of the guest or the connection, and the allowed results of the calls.
struct Fault {
  using Action = std::function<void(Cell&)>;

  std::string name;
  /// Called for each root before anything is started.
  std::function<void(const fs::path& root)> prepare = [](const auto&) {};
  Action occur;
  Action fix = [](Cell&) {};
  /// By state: texts that the error may contain, separated by "|"; "ok" if the call may succeed.
  std::map<State, std::string> endings;

  /// The running call ends within this time after `occur`; after `fix` in the states of
  /// `end_after_fix`.
  std::chrono::milliseconds limit = std::chrono::seconds(15);
  std::set<State> end_after_fix = {};

  /// Whether the sessions and all their processes end.
  bool ends_sessions = true;
  /// Whether an interrupted write leaves its temporary file until a later write in the directory.
  bool may_leave_temporary_file = false;

  std::string script = "sleep 300 & sleep 300";  ///< of the command of kInACommand
  bool write_has_begun = true;                   ///< kInAWrite: part of the content is written
  std::string first_call = "read_file";          ///< of kIdle after the fault
};

/// One server in one state, with an instance of its own behind a TcpProxy. One thread at a time.
class Cell {
 public:
  /// A script that runs until Go() is called.
  static constexpr const char* kWaits = "while ! test -e \"$control/go\"; do sleep 0.05; done";

  /// `mount` is the only mount of `guest`, `outside` a directory outside it; both exist.
  Cell(State in, LoopbackInstance& guest, fs::path mount, fs::path outside);

  /// Later connections go to sshd, or through the proxy.
  void DialSshd() const { instance.WritePort(instance.port()); }
  void DialLine() const { instance.WritePort(line.port()); }

  /// Returns once the server, which must outlive the cell, is certainly in the state.
  void Enter(McpClient& client, const Fault& fault);

  /// After the fault: releases the proxy, and makes the call of kIdle.
  void GoOn(const Fault& fault);

  void WaitUntilServerLeavesLine();

  /// Ends the command that waits for it.
  void Go() const { testing_support::WriteFile(control / "go", ""); }

  /// Waits for the call that was running.
  Ending End(std::chrono::milliseconds limit);

  /// One more call.
  Ending ReadSmallFile();
  Ending WriteSmallFile();
  Ending RunEcho();

  /// Whether kInAWrite's file is the old one or the whole new one.
  [[nodiscard]] bool IsFileWhole() const;
  /// Creates the files of the state in the root.
  void MakeFiles() const;
  /// Whether the command that was queued has run.
  [[nodiscard]] bool QueuedCommandRan() const { return fs::exists(control / "ran"); }

  const State state;
  LoopbackInstance& instance;
  testing_support::TcpProxy line;
  const fs::path root;
  const fs::path control;
  McpClient* client = nullptr;

 private:
  std::int64_t Send(const std::string& tool, const json& arguments);
  std::int64_t SendCommand(const std::string& script);
  Ending Call(const std::string& tool, const json& arguments);
  void EnterQueue();

  std::int64_t call_ = 0;
};

/// Runs one fault against a server in each state, all at the same time.
class FaultMatrix : public IntegrationTest {
 protected:
  /// In each cell: enters the state; the fault occurs; `ping` is answered; the running call ends as
  /// allowed and in time; the fault is fixed; a read, a write and a command work at once; the file
  /// is the old one or the whole new one; nothing is left in the guest; the server exits with 0.
  void Run(const Fault& fault);

 private:
  std::unique_ptr<Cell> MakeCell(State state, const Fault& fault);
  // In a thread for each cell.
  static void RunCell(Cell& cell, McpClient& client, const Fault& fault);
  static void CheckEnding(Cell& cell, const Fault& fault);
  static void CheckNextCalls(Cell& cell);
  static void CheckFiles(Cell& cell, const Fault& fault);
};

}  // namespace integration
