#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/call_observer.h"
#include "mcp/protocol.h"
#include "mcp/protocol_error.h"
#include "mcp/tool.h"

/// How a call ended, and how that is sent.
namespace mcp {

/// The tool failed, with a text that an agent can act on.
struct ToolFailure {
  std::string text;
};

/// The client cancelled the call and gets no answer.
struct Cancelled {};

using Outcome = std::variant<ToolResult, ToolFailure, ProtocolError, Cancelled>;

/// The one place that turns exceptions into responses:
///   ProtocolError                        → a JSON-RPC error
///   support::Stopped(kCancelled)         → Cancelled
///   support::CallError (others included) → a result with `isError`
///   anything else                        → JSON-RPC internal error, and a line in the log
[[nodiscard]] Outcome OutcomeOf(const std::exception_ptr& exception);

/// Calls the tool unless the context is stopped already. Never throws.
[[nodiscard]] Outcome CallTool(Tool& tool, const ToolCall& call);

/// A CallToolResult (specification: server/tools, "Tool result").
[[nodiscard]] std::string ToolResultText(const ToolResult& result, Era era,
                                         const ServerInfo& server, bool is_error = false);

/// What is recorded of an outcome, and what is sent.
struct EncodedOutcome {
  CallStatus status;                  ///< never kRefused
  std::string response;               ///< for Reply::Send
  std::optional<int> exit_code = {};  ///< ToolResult::exit_code
  std::string error = {};             ///< ToolResult::error, or the text of the failure
};

/// The one place that decides how an outcome is sent: a failure as a result with `isError`. A
/// result above kMaxMessageBytes is such a failure; `advice` is ToolDefinition::when_too_large.
[[nodiscard]] EncodedOutcome Encode(Outcome outcome, Era era, const ServerInfo& server,
                                    std::string_view advice = {});

}  // namespace mcp
