// SPDX-License-Identifier: Apache-2.0
#include "integration/fault_matrix.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace integration {
namespace {

using Clock = std::chrono::steady_clock;
using testing_support::GuestProcess;
using testing_support::TcpProxy;

/// More than a channel's window and all buffers.
constexpr std::size_t kLargeFile = std::size_t{8} * 1024 * 1024;
/// The same for a file that is read, which must fit into one message.
constexpr std::size_t kLargeRead = std::size_t{3} * 1024 * 1024;
/// More than everything that precedes the content.
constexpr std::uint64_t kHoldAfter = std::uint64_t{512} * 1024;
/// More than fits on the full disk, but quick to read, because a ping follows it.
constexpr std::size_t kFirstContent = std::size_t{64} * 1024;
/// More than the minute after which a silent connection counts as lost.
constexpr std::chrono::seconds kPatience{90};
/// For calls that need no guest.
constexpr std::chrono::seconds kAtOnce{5};
/// Processes exit within three seconds on a quiet machine.
constexpr std::chrono::seconds kOrphanTimeout{10};

/// That run at once.
constexpr int kMostCommands = 8;

constexpr const char* kOldContent = "the old content\n";

std::string NewContent() {
  return std::string(kLargeFile, 'n');
}

std::string NameOf(State state) {
  constexpr std::array kNames = {"idle", "in-a-command", "in-a-read", "in-a-write", "queued"};
  return kNames.at(static_cast<std::size_t>(state));
}

template <typename Condition>
void WaitUntil(Condition condition, const std::string& what) {
  if (!Eventually(condition, kPatience)) throw std::runtime_error(what + " did not happen");
}

Ending EndingOf(const json& response) {
  if (!response.contains("result")) return {false, "PROTOCOL ERROR " + response.dump()};
  const json& result = response["result"];
  if (result.value("isError", false)) return {false, TextOf(result)};
  const json& structured = result.at("structuredContent");
  const bool is_command = structured.contains("stdout");
  return {!is_command || structured.value("exit_code", -1) == 0, TextOf(result)};
}

bool IsAllowed(const Ending& ending, const std::string& allowed) {
  std::istringstream words(allowed);
  for (std::string word; std::getline(words, word, '|');) {
    if (word == "ok" ? ending.well : !ending.well && ending.text.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::string Describe(const std::vector<GuestProcess>& processes) {
  std::string text;
  for (const GuestProcess& process : processes) {
    text += "\n  " + std::to_string(process.pid) + " " + process.command.substr(0, 200);
  }
  return text;
}

template <typename Find>
auto LeftAfterAWhile(Find find) {
  auto left = find();
  Eventually([&] { return (left = find()).empty(); }, kOrphanTimeout);
  return left;
}

}  // namespace

Cell::Cell(State in, LoopbackInstance& guest, fs::path mount, fs::path outside)
    : state(in),
      instance(guest),
      line(guest.port()),
      root(std::move(mount)),
      control(std::move(outside)) {
  DialLine();
  MakeFiles();
}

void Cell::MakeFiles() const {
  using testing_support::WriteFile;
  WriteFile(root / "small.txt", "small\n");
  if (state == State::kInARead) WriteFile(root / "large.txt", std::string(kLargeRead, 'r'));
  if (state == State::kInAWrite) WriteFile(root / "target.txt", kOldContent);
}

std::int64_t Cell::Send(const std::string& tool, const json& arguments) {
  return client->BeginCall(tool, arguments, "of " + tool);
}

std::int64_t Cell::SendCommand(const std::string& script) {
  return Send("run_shell_command",
              {{"command", {"control=" + control.string(), "sh", "-c", script}},
               {"directory", root.string()}});
}

void Cell::Enter(McpClient& server, const Fault& fault) {
  client = &server;
  // Connects, and opens the SFTP channel.
  const Ending first = ReadSmallFile();
  if (!first.well) throw std::runtime_error("the first call failed: " + first.text);
  const auto wait_for_held_line = [&] {
    WaitUntil([&] { return line.Holds(); }, "a line that holds something back");
  };
  if (state == State::kInACommand) {
    call_ = SendCommand("echo $$ > \"$control/pid\"; " + fault.script);
    WaitUntil([&] { return fs::exists(control / "pid"); }, "the start of the command");
  } else if (state == State::kInARead) {
    line.HoldAfter(TcpProxy::Direction::kFromTarget, kHoldAfter);
    call_ = Send("read_file", {{"path", (root / "large.txt").string()}});
    wait_for_held_line();
  } else if (state == State::kInAWrite) {
    line.HoldAfter(TcpProxy::Direction::kToTarget, fault.write_has_begun ? kHoldAfter : 0);
    call_ =
        Send("write_file", {{"path", (root / "target.txt").string()}, {"content", NewContent()}});
    wait_for_held_line();
    if (!fault.write_has_begun) return;
    WaitUntil([&] { return !Leftovers(root).empty(); }, "the beginning of the write");
  } else if (state == State::kQueued) {
    EnterQueue();
  }
}

void Cell::EnterQueue() {
  for (int i = 0; i < kMostCommands; ++i) {
    const std::string holds = "holds" + std::to_string(i);
    SendCommand("touch \"$control/" + holds + "\"; " + kWaits);
    WaitUntil([&] { return fs::exists(control / holds); }, "the command that holds a channel");
  }
  call_ = SendCommand("touch \"$control/ran\"");
  const auto deadline = Clock::now() + kPatience;
  while (true) {
    const json message = client->NextMessage(kPatience);
    if (message.dump().find("waiting: ") != std::string::npos) return;
    if (Clock::now() > deadline) throw std::runtime_error("the command was not queued");
  }
}

void Cell::WaitUntilServerLeavesLine() {
  WaitUntil([&] { return line.IsAbandoned(); }, "the end of the line");
}

void Cell::GoOn(const Fault& fault) {
  line.Release();
  if (state != State::kIdle) return;
  if (fault.first_call == "read_file") {
    call_ = Send("read_file", {{"path", (root / "small.txt").string()}});
  } else {
    call_ = Send("write_file", {{"path", (root / "new.txt").string()},
                                {"content", std::string(kFirstContent, 'n')}});
  }
}

Ending Cell::End(std::chrono::milliseconds limit) {
  return EndingOf(client->WaitForResponse(call_, limit));
}

Ending Cell::Call(const std::string& tool, const json& arguments) {
  return EndingOf(client->Request("tools/call", {{"name", tool}, {"arguments", arguments}}));
}

Ending Cell::ReadSmallFile() {
  return Call("read_file", {{"path", (root / "small.txt").string()}});
}

Ending Cell::WriteSmallFile() {
  return Call("write_file", {{"path", (root / "after.txt").string()}, {"content", "after\n"}});
}

Ending Cell::RunEcho() {
  return Call("run_shell_command", {{"command", {"echo", "alive"}}, {"directory", root.string()}});
}

bool Cell::IsFileWhole() const {
  if (state != State::kInAWrite) return true;
  const std::string content = ReadFile(root / "target.txt");
  return content == kOldContent || content == NewContent();
}

std::unique_ptr<Cell> FaultMatrix::MakeCell(State state, const Fault& fault) {
  const std::string name = NameOf(state);
  fault.prepare(MakeDirectory("root/" + name));
  LoopbackInstance::Options options;
  options.name = name;
  options.mounts = {{Path("root/" + name).string(), "", true}};
  return std::make_unique<Cell>(state, StartInstance(options), Path("root/" + name),
                                MakeDirectory("control/" + name));
}

void FaultMatrix::CheckEnding(Cell& cell, const Fault& fault) {
  const Ending ending = cell.End(fault.limit);
  const std::string& allowed = fault.endings.at(cell.state);
  EXPECT_TRUE(IsAllowed(ending, allowed)) << "expected: " << allowed << ", got: " << ending.text;
  if (cell.QueuedCommandRan()) {
    EXPECT_THAT(ending.text, Not(HasSubstr("not run")));
  }
}

void FaultMatrix::CheckNextCalls(Cell& cell) {
  Ending next = cell.ReadSmallFile();
  EXPECT_TRUE(next.well) << "the next read: " << next.text;
  next = cell.WriteSmallFile();
  EXPECT_TRUE(next.well) << "the next write: " << next.text;
  EXPECT_EQ(ReadFile(cell.root / "after.txt"), "after\n");
  next = cell.RunEcho();
  EXPECT_TRUE(next.well) << "the next command: " << next.text;
  EXPECT_THAT(next.text, HasSubstr("alive"));
}

void FaultMatrix::CheckFiles(Cell& cell, const Fault& fault) {
  EXPECT_TRUE(cell.IsFileWhole());
  const auto left = LeftAfterAWhile([&] {
    if (fault.may_leave_temporary_file) {
      MakeOld(Leftovers(cell.root));
      cell.WriteSmallFile();
    }
    return Leftovers(cell.root);
  });
  EXPECT_THAT(left, IsEmpty());
}

void FaultMatrix::RunCell(Cell& cell, McpClient& client, const Fault& fault) {
  // Not earlier: a held connection is a silent guest.
  cell.Enter(client, fault);
  cell.DialSshd();
  const auto before = GuestProcesses(cell.instance);
  fault.occur(cell);
  cell.GoOn(fault);
  client.Request("ping", json::object(), kAtOnce);
  const bool waits = fault.end_after_fix.count(cell.state) > 0;
  if (!waits) CheckEnding(cell, fault);
  fault.fix(cell);
  if (waits) CheckEnding(cell, fault);
  CheckNextCalls(cell);
  CheckFiles(cell, fault);
  if (fault.ends_sessions) {
    const auto orphans = LeftAfterAWhile([&] { return testing_support::StillAlive(before); });
    EXPECT_EQ(orphans.size(), 0U) << "orphans in the guest:" << Describe(orphans);
  }
  EXPECT_EQ(client.CloseAndWait(), 0) << client.log();
  const auto left = LeftAfterAWhile([&] { return GuestProcesses(cell.instance); });
  EXPECT_EQ(left.size(), 0U) << "left in the guest:" << Describe(left);
}

void FaultMatrix::Run(const Fault& fault) {
  std::vector<std::unique_ptr<Cell>> cells;
  std::vector<std::thread> threads;
  for (const State state : kStates) cells.push_back(MakeCell(state, fault));
  for (const auto& cell : cells) {
    McpClient& client = Serve({.arguments = {NameOf(cell->state)}});
    threads.emplace_back([&] {
      SCOPED_TRACE(fault.name + ", " + NameOf(cell->state));
      try {
        RunCell(*cell, client, fault);
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace integration
