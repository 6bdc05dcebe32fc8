#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/call_observer.h"
#include "mcp/protocol.h"
#include "mcp/tool.h"

namespace mcp {

/// How a call ended: what is recorded, and what is sent.
struct Outcome {
  CallStatus status;                  ///< never kRefused
  std::string response;               ///< for Reply::Send
  std::optional<int> exit_code = {};  ///< ToolResult::exit_code
  std::string error = {};             ///< ToolResult::error, or the text of the failure
};

/// A result above kMaxMessageBytes is a failure; `advice` is ToolDefinition::when_too_large.
[[nodiscard]] Outcome OutcomeOf(const ToolResult& result, Era era, const ServerInfo& server,
                                std::string_view advice = {});

/// The one place that turns exceptions into responses:
///   ProtocolError                        → a JSON-RPC error
///   support::Stopped(kCancelled)         → the client gets no answer
///   support::CallError (others included) → a result with `isError`
///   anything else                        → JSON-RPC internal error, and a line in the log
[[nodiscard]] Outcome OutcomeOf(const std::exception_ptr& exception, Era era,
                                const ServerInfo& server);

/// A CallToolResult (specification: server/tools, "Tool result").
[[nodiscard]] std::string ToolResultText(const ToolResult& result, Era era,
                                         const ServerInfo& server, bool is_error = false);

}  // namespace mcp
