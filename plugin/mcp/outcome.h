#pragma once

#include <exception>
#include <string>
#include <variant>

#include "mcp/dialect.h"
#include "mcp/line.h"
#include "mcp/protocol_error.h"
#include "mcp/tool.h"

/// How a call ended, and what that is on the wire.
namespace mcp {

/// The tool failed, with a text that an agent can act on.
struct ToolFailure {
  std::string text;
};

/// The client withdrew the call: nobody is to be told anything.
struct Withdrawn {};

using Outcome = std::variant<ToolResult, ToolFailure, ProtocolError, Withdrawn>;

/// The one place where exceptions become answers:
///   ProtocolError                        → a JSON-RPC error
///   support::Stopped(kCancelled)         → Withdrawn
///   support::CallError (others included) → a result with `isError`
///   anything else                        → JSON-RPC internal error, and a line in the log
[[nodiscard]] Outcome OutcomeOf(const std::exception_ptr& exception);

/// Calls the tool. Never throws.
[[nodiscard]] Outcome CallTool(Tool& tool, const ToolCall& call);

/// A CallToolResult (specification: server/tools, "Tool result"): the structured content, and the
/// same JSON as text in content[0]. Results may be tens of megabytes: a large string of the
/// structured content is taken over as it is and escaped, twice over, when it is written.
[[nodiscard]] Line ToolResultText(ToolResult result, const Dialect& dialect,
                                  const ServerInfo& server);

/// A CallToolResult with `isError`.
[[nodiscard]] std::string ToolFailureText(const ToolFailure& failure, const Dialect& dialect,
                                          const ServerInfo& server);

}  // namespace mcp
