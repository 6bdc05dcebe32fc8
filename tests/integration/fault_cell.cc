#include "integration/fault_cell.h"

#include <stdexcept>
#include <system_error>
#include <utility>

namespace integration {
namespace {

using Clock = std::chrono::steady_clock;
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

const std::string kOldContent = "the old content\n";

std::string NewContent() {
  return std::string(kLargeFile, 'n');
}

template <typename Condition>
void WaitUntil(Condition condition, const std::string& what) {
  if (!Eventually(condition, kPatience)) {
    throw std::runtime_error(what + " did not happen");
  }
}

Ending EndingOf(const json& response) {
  if (!response.contains("result")) return {false, "PROTOCOL ERROR " + response.dump()};
  const json& result = response["result"];
  const std::string text = TextOf(result);
  if (result.value("isError", false)) return {false, text};
  const json& structured = result.at("structuredContent");
  const bool is_command = structured.contains("stdout");
  return {!is_command || structured.value("exit_code", -1) == 0, text};
}

}  // namespace

std::string_view Name(State state) {
  constexpr std::array kNames = {"idle", "in a command", "in a read", "in a write", "while queued"};
  return kNames.at(static_cast<std::size_t>(state));
}

Cell::Cell(State state, LoopbackInstance& instance, fs::path root, fs::path control)
    : state_(state),
      instance_(instance),
      line_(instance.port()),
      root_(std::move(root)),
      control_(std::move(control)) {
  DialLine();
  MakeFiles();
}

void Cell::MakeFiles() const {
  testing_support::WriteFile(root_ / "small.txt", "small\n");
  if (state_ == State::kInARead)
    testing_support::WriteFile(root_ / "large.txt", std::string(kLargeRead, 'r'));
  if (state_ == State::kInAWrite) testing_support::WriteFile(root_ / "target.txt", kOldContent);
}

std::int64_t Cell::Send(const std::string& tool, const json& arguments) {
  return client_->BeginCall(tool, arguments, "of " + tool);
}

std::int64_t Cell::SendCommand(const std::string& script) {
  return Send("run_shell_command",
              {{"command", {"control=" + control_.string(), "sh", "-c", script}},
               {"directory", root_.string()}});
}

void Cell::Enter(Calls calls) {
  calls_ = std::move(calls);
  // Connects, and opens the SFTP channel.
  const Ending first = ReadSmallFile();
  if (!first.well) throw std::runtime_error("the first call failed: " + first.text);
  if (state_ == State::kInACommand) EnterCommand();
  if (state_ == State::kInARead) EnterRead();
  if (state_ == State::kInAWrite) EnterWrite();
  if (state_ == State::kQueued) EnterQueue();
}

void Cell::EnterCommand() {
  call_ = SendCommand("echo $$ > \"$control/pid\"; " + calls_.script);
  WaitUntil([&] { return fs::exists(control_ / "pid"); }, "the start of the command");
}

void Cell::EnterRead() {
  line_.HoldAfter(TcpProxy::Direction::kFromTarget, kHoldAfter);
  call_ = Send("read_file", {{"path", (root_ / "large.txt").string()}});
  WaitForHeldLine();
}

void Cell::EnterWrite() {
  line_.HoldAfter(TcpProxy::Direction::kToTarget, calls_.write_has_begun ? kHoldAfter : 0);
  call_ =
      Send("write_file", {{"path", (root_ / "target.txt").string()}, {"content", NewContent()}});
  WaitForHeldLine();
  if (!calls_.write_has_begun) return;
  WaitUntil([&] { return !Leftovers(root_).empty(); }, "the beginning of the write");
}

void Cell::EnterQueue() {
  SendCommand("touch \"$control/holds\"; " + std::string(kWaits));
  WaitUntil([&] { return fs::exists(control_ / "holds"); }, "the command that holds the channel");
  call_ = SendCommand("touch \"$control/ran\"");
  const auto deadline = Clock::now() + kPatience;
  while (true) {
    const json message = client_->NextMessage(kPatience);
    if (message.dump().find("waiting for its turn") != std::string::npos) return;
    if (Clock::now() > deadline) throw std::runtime_error("the command was not queued");
  }
}

void Cell::WaitForHeldLine() {
  WaitUntil([&] { return line_.Holds(); }, "a line that holds something back");
}

void Cell::WaitUntilServerLeavesLine() {
  WaitUntil([&] { return line_.IsAbandoned(); }, "the end of the line");
}

void Cell::GoOn() {
  line_.Release();
  if (state_ != State::kIdle) return;
  if (calls_.first_call == "read_file") {
    call_ = Send("read_file", {{"path", (root_ / "small.txt").string()}});
  } else if (calls_.first_call == "write_file") {
    call_ = Send("write_file", {{"path", (root_ / "new.txt").string()},
                                {"content", std::string(kFirstContent, 'n')}});
  } else {
    call_ = SendCommand("echo alive");
  }
}

void Cell::Go() const {
  testing_support::WriteFile(control_ / "go", "");
}

Ending Cell::End(std::chrono::milliseconds limit) {
  return EndingOf(client_->WaitForResponse(call_, limit));
}

Ending Cell::Call(const std::string& tool, const json& arguments, std::chrono::milliseconds limit) {
  return EndingOf(
      client_->Request("tools/call", {{"name", tool}, {"arguments", arguments}}, limit));
}

Ending Cell::ReadSmallFile() {
  return Call("read_file", {{"path", (root_ / "small.txt").string()}});
}

Ending Cell::WriteSmallFile() {
  return Call("write_file", {{"path", (root_ / "after.txt").string()}, {"content", "after\n"}});
}

Ending Cell::RunEcho() {
  return Call("run_shell_command", {{"command", {"echo", "alive"}}, {"directory", root_.string()}});
}

std::string Cell::WhatIsWrongWithTheFile() const {
  if (state_ != State::kInAWrite) return "";
  const std::string content = ReadFile(root_ / "target.txt");
  if (content == kOldContent || content == NewContent()) return "";
  return "target.txt is half written: " + std::to_string(content.size()) + " bytes";
}

bool Cell::QueuedCommandRan() const {
  return fs::exists(control_ / "ran");
}

}  // namespace integration
