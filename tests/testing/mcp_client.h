// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "testing/child_process.h"

namespace testing_support {

/// An MCP client: starts the server as a child process and sends JSON-RPC over its pipes. Every
/// wait has a timeout and throws std::runtime_error with the server's log. One thread at a time.
class McpClient {
 public:
  static constexpr std::chrono::seconds kDefaultTimeout{30};

  explicit McpClient(const ChildProcess::Options& server);

  /// `initialize` and `notifications/initialized`; returns the result of the first.
  nlohmann::json Initialize(const std::string& version = "2025-06-18",
                            const std::string& name = "test");

  /// Sends all later requests in the modern era, except `ping`, which that has not.
  void SpeakModern(const std::string& name);

  /// Sends a request and waits for its response: the whole message, with `result` or `error`.
  nlohmann::json Request(const std::string& method,
                         const nlohmann::json& params = nlohmann::json::object(),
                         std::chrono::milliseconds timeout = kDefaultTimeout);

  /// `tools/call`; returns the `result`. Throws std::runtime_error on a protocol error.
  nlohmann::json CallTool(const std::string& name, const nlohmann::json& arguments,
                          std::chrono::milliseconds timeout = kDefaultTimeout);

  /// The two halves of CallTool. With a `progress` token the server reports progress.
  std::int64_t BeginCall(const std::string& tool, const nlohmann::json& arguments,
                         const std::string& progress = "");
  nlohmann::json EndCall(std::int64_t id, std::chrono::milliseconds timeout = kDefaultTimeout);
  void Cancel(std::int64_t id);

  /// Sends without waiting; returns the id.
  std::int64_t SendRequest(const std::string& method, const nlohmann::json& params);
  void SendNotification(const std::string& method, const nlohmann::json& params);
  void SendLine(std::string_view line);

  /// Waits for the response to `id`; keeps other messages for later.
  nlohmann::json WaitForResponse(std::int64_t id,
                                 std::chrono::milliseconds timeout = kDefaultTimeout);

  /// The next message that was not returned yet.
  nlohmann::json NextMessage(std::chrono::milliseconds timeout = kDefaultTimeout);

  /// The next line that was not returned yet, as it came.
  std::string NextLine(std::chrono::milliseconds timeout = kDefaultTimeout);

  /// What came after the last message that was returned or is kept for later.
  [[nodiscard]] const std::string& unread() const { return received_; }

  /// Closes the server's standard input, waits for its exit and returns the exit code (128+N after
  /// signal N).
  int CloseAndWait(std::chrono::milliseconds timeout = kDefaultTimeout);

  /// The server's standard error so far.
  [[nodiscard]] const std::string& log() const { return log_; }

  ChildProcess& process() { return process_; }

 private:
  std::string ReadLine(std::chrono::steady_clock::time_point deadline);
  /// Reads what there is on both pipes; false when standard output has ended.
  bool Pump(std::chrono::steady_clock::time_point deadline);

  ChildProcess process_;
  std::int64_t next_id_ = 1;
  nlohmann::json meta_;  // of each request
  std::string received_;
  std::string log_;
  std::vector<nlohmann::json> kept_;
};

/// A tool and its arguments.
struct ToolCall {
  std::string tool;
  nlohmann::json arguments;
};
/// One call of each tool in `directory` and its file `file`, two of write_file; they would make
/// the file "touched" and the directory "new".
std::vector<ToolCall> CallsOfEveryTool(const std::string& directory, const std::string& file);

/// The texts of a tool result's content blocks, each on lines of its own, and "[image/png]".
std::string TextOf(const nlohmann::json& tool_result);

}  // namespace testing_support
