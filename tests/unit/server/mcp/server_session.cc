// SPDX-License-Identifier: Apache-2.0
#include "unit/server/mcp/server_session.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "mcp/message.h"
#include "mcp/tool.h"
#include "support/errors.h"

namespace mcp {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kTimeout = std::chrono::minutes(1);

ToolResult Fail(const std::string& how) {
  if (how == "call_error") throw support::Error("the disk is full: free some space");
  if (how == "timeout") throw support::Stopped(support::StopReason::kDeadline);
  if (how == "protocol_error") {
    throw ProtocolError(ErrorCode::kInvalidParams, "refused", {{"why", "test"}});
  }
  throw std::runtime_error("a bug");
}

/// Where the calls to `block` meet those that control them.
class Gates {
 public:
  ToolResult Block(const ToolCall& call) {
    std::unique_lock lock(mutex_);
    Gate& gate = gates_[call.arguments["name"]];
    gate.started = true;
    changed_.notify_all();
    support::WaitUntil(changed_, lock, call.context, [&gate] { return gate.released; });
    call.context.ThrowIfStopped();
    return {};
  }

  ToolResult AwaitStarted(const ToolCall& call) {
    std::unique_lock lock(mutex_);
    const Gate& gate = gates_[call.arguments["name"]];
    changed_.wait(lock, [&gate] { return gate.started; });
    return {};
  }

  ToolResult Release(const ToolCall& call) {
    const std::scoped_lock lock(mutex_);
    gates_[call.arguments["name"]].released = true;
    changed_.notify_all();
    return {};
  }

 private:
  struct Gate {
    bool started = false;
    bool released = false;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Gate> gates_;
};

ToolResult Report(Session& session, const ToolCall& call) {
  const std::chrono::milliseconds between(
      std::lround(call.arguments["seconds_between"].get<double>() * 1000));
  for (const json& message : call.arguments["messages"]) {
    call.progress.SetStatus(message);
    session.AdvanceTime(between);
  }
  return {};
}

ToolResult Big(const ToolCall& call) {
  // The serializer takes most of a test's time without optimisation.
  std::string content = R"({"text":")";
  content.append(call.arguments["bytes"].get<std::size_t>(), 'x');
  return {.content = content + "\"}"};
}

std::vector<Tool> FakeTools(Session& session) {
  const auto gates = std::make_shared<Gates>();
  const json text = {{"type", "object"}, {"properties", {{"text", {{"type", "string"}}}}}};
  const json any = json::object();
  const json read_only = {{"readOnlyHint", true}};
  return {
      {{.name = "echo", .input_schema = text, .annotations = read_only},
       [](const ToolCall& call) { return ToolResult{.content = call.arguments.dump()}; }},
      {{.name = "block", .input_schema = any},
       [gates](const ToolCall& call) { return gates->Block(call); }},
      {{.name = "await_started", .input_schema = any},
       [gates](const ToolCall& call) { return gates->AwaitStarted(call); }},
      {{.name = "release", .input_schema = any},
       [gates](const ToolCall& call) { return gates->Release(call); }},
      {{.name = "report", .input_schema = any},
       [&session](const ToolCall& call) { return Report(session, call); }},
      {{.name = "fail", .input_schema = any},
       [](const ToolCall& call) { return Fail(call.arguments["how"]); }},
      {{.name = "big", .input_schema = any}, Big},
  };
}

}  // namespace

Session::Session(const std::function<void(ServerOptions&)>& change, Output output)
    : reader_(from_server_.read_end.get()) {
  std::signal(SIGPIPE, SIG_IGN);  // a server that has exited is an error of write()
  ServerOptions options;
  options.now = [this] { return now_.load(); };
  if (change) change(options);
  server_ = std::make_unique<Server>(options, FakeTools(*this), to_server_.read_end.get(),
                                     from_server_.write_end.get());
  exit_ = std::async(std::launch::async, [this, output] {
    const Server::Exit exit = server_->Serve();
    if (output == Output::kClosedAtExit) from_server_.write_end.Close();
    return exit;
  });
}

Session::~Session() {
  server_->Stop(support::StopReason::kTerminated);
  if (exit_.valid()) exit_.wait();
}

void Session::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to_server_.write_end.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw std::system_error(errno, std::generic_category(), "write to the server");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Session::Call(int id, const std::string& tool, const json& arguments,
                   const json& progress_token) {
  json params = {{"name", tool}, {"arguments", arguments}};
  if (!progress_token.is_null()) params["_meta"] = {{"progressToken", progress_token}};
  const json request = {
      {"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}};
  Send(request.dump() + "\n");
}

void Session::Initialize() {
  Send("{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\"}\n");
  EXPECT_TRUE(Read().contains("result"));
}

void Session::ExpectPingIsAnswered() {
  Send("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
  EXPECT_EQ(Read()["id"], "ping");
}

std::optional<std::string> Session::ReadLine() {
  std::string line;
  while (true) {
    const LineReader::Result result = reader_.Next(line);
    if (result == LineReader::Result::kLine) return line;
    if (result == LineReader::Result::kEndOfInput) return std::nullopt;
    WaitForOutput();
    reader_.Fill();
  }
}

json Session::Read() {
  const auto line = ReadLine();
  return line ? json::parse(*line) : json();
}

std::vector<json> Session::ReadToTheEnd() {
  std::vector<json> messages;
  for (json message = Read(); !message.is_null(); message = Read()) messages.push_back(message);
  return messages;
}

void Session::WaitForOutput() {
  pollfd ready = {.fd = from_server_.read_end.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(kTimeout.count())) == 0) {
    throw std::runtime_error("no line from the server in time");
  }
}

void Session::AdvanceTime(support::Clock::duration by) {
  now_ = now_.load() + by;
  server_->SendProgress();
}

}  // namespace mcp
