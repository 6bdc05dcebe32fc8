#pragma once

#include <functional>
#include <map>
#include <set>

#include "integration/fault_cell.h"
#include "integration/fixture.h"

namespace integration {

/// By state: texts that the error may contain, separated by "|"; "ok" if the call may succeed.
using AllowedEndings = std::map<State, std::string>;
bool IsAllowed(const Ending& ending, const std::string& allowed);

/// A fault of the guest or the connection, and the allowed results of the calls.
struct Fault {
  using Action = std::function<void(Cell&)>;

  std::string name;
  /// Called for each root before anything is started.
  std::function<void(const fs::path& root)> prepare = [](const auto&) {};
  Action occur;
  Action fix = [](Cell&) {};
  AllowedEndings endings;

  /// The running call ends within this time after `occur`; after `fix` in the states of
  /// `end_after_fix`.
  std::chrono::milliseconds limit = std::chrono::seconds(15);
  std::set<State> end_after_fix = {};

  /// Whether the sessions and all their processes end.
  bool ends_sessions = true;
  /// Whether an interrupted write leaves its temporary file until a later write in the directory.
  bool may_leave_temporary_file = false;

  Cell::Calls calls = {};
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
  static void RunCell(Cell& cell, const Fault& fault);
  static void CheckEnding(Cell& cell, const Fault& fault);
  static void CheckNextCalls(Cell& cell);
  static void CheckFiles(Cell& cell, const Fault& fault);
};

}  // namespace integration
