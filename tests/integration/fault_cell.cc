#include "integration/fault_cell.h"

#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testing/eventually.h"
#include "testing/files.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
using testing_support::LoopbackInstance;
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
  if (!testing_support::Eventually(condition, kPatience)) {
    throw std::runtime_error(what + " did not happen");
  }
}

Ending EndingOf(const json& response) {
  if (!response.contains("result")) return {false, "PROTOCOL ERROR " + response.dump()};
  const json& result = response["result"];
  const std::string text = testing_support::TextOf(result);
  if (result.value("isError", false)) return {false, text};
  const json& structured = result.at("structuredContent");
  const bool is_command = structured.contains("stdout");
  return {!is_command || structured.value("exit_code", -1) == 0, text};
}

}  // namespace

std::string_view Name(State state) {
  switch (state) {
    case State::kIdle:
      return "idle";
    case State::kInACommand:
      return "in a command";
    case State::kInARead:
      return "in a read";
    case State::kInAWrite:
      return "in a write";
    case State::kQueued:
      return "while queued";
  }
  return "?";
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
  return client_->SendRequest(
      "tools/call",
      {{"name", tool}, {"arguments", arguments}, {"_meta", {{"progressToken", "of " + tool}}}});
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
  switch (state_) {
    case State::kIdle:
      break;
    case State::kInACommand:
      EnterCommand();
      break;
    case State::kInARead:
      EnterRead();
      break;
    case State::kInAWrite:
      EnterWrite();
      break;
    case State::kQueued:
      EnterQueue();
      break;
  }
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
  WaitUntil([&] { return !Leftovers().empty(); }, "the beginning of the write");
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
  const std::string content = testing_support::ReadFile(root_ / "target.txt");
  if (content == kOldContent || content == NewContent()) return "";
  return "target.txt is half written: " + std::to_string(content.size()) + " bytes";
}

std::vector<fs::path> Cell::Leftovers() const {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(root_)) {
    if (entry.path().filename().string().starts_with(".limactl-mcp-")) found.push_back(entry);
  }
  return found;
}

void Cell::MakeLeftoversOld() const {
  std::error_code gone;
  for (const fs::path& path : Leftovers()) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(11), gone);
  }
}

bool Cell::QueuedCommandRan() const {
  return fs::exists(control_ / "ran");
}

}  // namespace integration
