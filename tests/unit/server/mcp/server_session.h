// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/lines.h"
#include "mcp/server.h"
#include "support/pipe.h"

namespace mcp {

inline constexpr std::size_t kMiB = std::size_t{1024} * 1024;

/// A server in a thread of this process, and a client of it. Time stands still. One thread at a
/// time. The tools:
///
///   echo           {"text"}: gives it back
///   block          {"name"}: runs until it is released or stopped
///   await_started  {"name"}: returns once the call to `block` of that name runs
///   release        {"name"}: ends that call
///   report         {"messages", "seconds_between"}: sets each status, then moves the time
///   fail           {"how"}: "call_error", "timeout", "protocol_error", "exception"
///   big            {"bytes"}: a result of that many letters
class Session {
 public:
  /// Whether the server's output is closed when `Serve` returns. A server with unread answers
  /// writes until it is destroyed and needs it open.
  enum class Output { kClosedAtExit, kLeftOpen };

  explicit Session(const std::function<void(ServerOptions&)>& change = nullptr,
                   Output output = Output::kClosedAtExit);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Send(std::string_view bytes);

  /// Calls a tool, with a progress token unless that is null.
  void Call(int id, const std::string& tool, const nlohmann::json& arguments,
            const nlohmann::json& progress_token = nullptr);

  void Initialize();
  void ExpectPingIsAnswered();

  /// The next line without its end; nothing at the end of output. Throws std::runtime_error when
  /// none comes in time.
  std::optional<std::string> ReadLine();

  /// The next message; null at the end of output.
  nlohmann::json Read();
  std::vector<nlohmann::json> ReadToTheEnd();

  /// Waits until a line has begun to arrive. Throws like ReadLine.
  void WaitForOutput();

  void CloseInput() { to_server_.write_end.Close(); }
  void CloseOutput() { from_server_.read_end.Close(); }

  /// Waits for the end of `Serve`.
  Server::Exit Exit() { return exit_.get(); }

  /// Moves the time, and sends the progress that is due.
  void AdvanceTime(support::Clock::duration by);

  Server& server() { return *server_; }

 private:
  support::Pipe to_server_;
  support::Pipe from_server_;
  LineReader reader_;
  std::atomic<support::Clock::time_point> now_ = support::Clock::time_point();
  std::unique_ptr<Server> server_;
  std::future<Server::Exit> exit_;
};

}  // namespace mcp
