#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "integration/fault_cell.h"
#include "integration/fixture.h"

namespace integration {

/// Words of which one must stand in the text of an error, separated by "|"; "ok" stands for a call
/// that does what it is for.
using AllowedEndings = std::map<State, std::string>;

/// What happens to the guest or to the line, and what may become of the calls.
struct Fault {
  using Action = std::function<void(Cell&)>;

  std::string name;  ///< as in the table
  /// Before anything is started, for each root.
  std::function<void(const std::filesystem::path& root)> prepare = [](const auto&) {};
  Action strike;  ///< makes it happen
  Action mend = [](Cell&) {};
  AllowedEndings endings;

  /// Within this the call that was under way ends, from when it may go on: after `strike`, or after
  /// `mend` for those that wait for it.
  std::chrono::milliseconds limit = std::chrono::seconds(15);
  std::set<State> end_after_mend = {};

  /// The sessions end: nothing that they have started may go on.
  bool ends_sessions = true;
  /// The temporary file of an interrupted write stays until a later write in its directory.
  bool may_leave_temporary_file = false;

  Cell::Calls calls = {};
  std::vector<std::string> serve_options = {};
};

/// Runs one fault against a server in each state, all at the same time, and prints the row of the
/// table: `FAULT | name | state: how it ended, after how long | …`.
class FaultMatrix : public IntegrationTest {
 protected:
  /// In each cell: brings the server into the state; strikes; `ping` is answered at once; the call
  /// under way ends as allowed and in time; mends; a read, a write and a command work at the first
  /// attempt; the file is the old one or the whole new one; nothing is left in the guest; the
  /// server ends with 0.
  void Run(const Fault& fault);

 private:
  std::unique_ptr<Cell> MakeCell(State state, const Fault& fault);
  // These run in a thread for each cell.
  static std::string RunCell(Cell& cell, const Fault& fault);
  static std::string CheckEnding(Cell& cell, const Fault& fault);
  static void CheckNextCalls(Cell& cell);
  static void CheckFiles(Cell& cell, const Fault& fault);
};

}  // namespace integration
