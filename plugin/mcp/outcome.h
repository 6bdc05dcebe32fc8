#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/protocol.h"
#include "mcp/protocol_error.h"
#include "mcp/tool.h"

/// How a call ended, and how that is sent.
namespace mcp {

/// The tool failed, with a text that an agent can act on.
struct ToolFailure {
  std::string text;
};

/// The client cancelled the call: nothing is sent.
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

/// How large a result may be.
struct ResultLimit {
  std::size_t bytes = std::numeric_limits<std::size_t>::max();  ///< of its line
  std::string_view advice = {};                                 ///< ToolDefinition::when_too_large
};

/// A CallToolResult (specification: server/tools, "Tool result"). One above the limit becomes a
/// failure that says how to get the rest.
[[nodiscard]] std::string ToolResultText(const ToolResult& result, Era era,
                                         const ServerInfo& server, const ResultLimit& limit = {});

/// A CallToolResult with `isError`.
[[nodiscard]] std::string ToolFailureText(const ToolFailure& failure, Era era,
                                          const ServerInfo& server);

/// One `tools/call` that has ended. Valid only during CallObserver::OnCallEnded.
struct CallRecord {
  std::chrono::system_clock::time_point received;
  std::chrono::milliseconds duration;  ///< from receipt to end, waiting included
  std::string_view tool;               ///< as the client named it
  const nlohmann::json& arguments;     ///< as the client gave them
  bool started;  ///< false: the tool never ran (unknown, bad arguments, too many calls, stopped)
  const Outcome& outcome;
};

/// Observes every call, however it ends. Requests that cannot be read as a call are left out.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  /// Called once for each call, right before its response is sent, by any thread, several at a
  /// time. Must be quick and must not throw.
  virtual void OnCallEnded(const CallRecord& record) = 0;
};

}  // namespace mcp
