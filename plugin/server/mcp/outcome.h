// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace mcp {

enum class CallStatus {
  kSucceeded,
  kFailed,
  kRefused,    ///< the tool never ran: unknown, bad arguments, the server exits
  kCancelled,  ///< by the client, which gets no answer
};

/// How a call ended: what is recorded, and what is sent.
struct Outcome {
  CallStatus status;
  std::string response;                   ///< for Responder::Send
  std::optional<int> exit_code = {};      ///< ToolResult::exit_code
  std::string error = {};                 ///< ToolResult::error, or the text of the failure
  std::chrono::milliseconds duration{0};  ///< from receipt to end, waiting included
};

/// One `tools/call`. Valid only during a call of the observer.
struct ObservedCall {
  std::uint64_t number;  ///< from 1, in the order of receipt
  std::chrono::system_clock::time_point received;
  std::string_view tool;            ///< as the client named it
  const nlohmann::json& arguments;  ///< as the client gave them
};

/// Called when a call ends, before its response is sent. For a tool that may change something, also
/// before it runs, with `end` null. Not called for requests that cannot be read as a call.
/// Any thread, several at a time. Must not throw, and must be quick: a call waits for it.
using CallObserver = std::function<void(const ObservedCall& call, const Outcome* end)>;

/// A result above kMaxMessageBytes is a failure; `advice` is ToolDefinition::when_too_large.
[[nodiscard]] Outcome OutcomeOf(const ToolResult& result, Era era, const Json& server,
                                std::string_view advice = {});

/// The one place that turns exceptions into responses:
///   ProtocolError                        → a JSON-RPC error
///   support::Stopped(kCancelled)         → the client gets no answer
///   support::Error (others included) → a result with `isError`
///   anything else                        → JSON-RPC internal error, and a line in the log
[[nodiscard]] Outcome OutcomeOf(const std::exception_ptr& exception, Era era, const Json& server);

/// A CallToolResult (specification: server/tools, "Tool result").
[[nodiscard]] std::string ToolResultText(const ToolResult& result, Era era, const Json& server,
                                         bool is_error = false);

}  // namespace mcp
