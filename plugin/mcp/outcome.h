#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
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
  kRefused,    ///< the tool never ran: unknown, bad arguments, too many calls, the server exits
  kCancelled,  ///< by the client, which gets no answer
};

/// One `tools/call`. Valid only during a call of the observer.
struct ObservedCall {
  std::uint64_t number;  ///< from 1, in the order of receipt
  std::chrono::system_clock::time_point received;
  std::string_view tool;            ///< as the client named it
  const nlohmann::json& arguments;  ///< as the client gave them
};

/// How a call ended, as its client was told.
struct CallEnd {
  CallStatus status;
  std::chrono::milliseconds duration;  ///< from receipt to end, waiting included
  std::optional<int> exit_code;        ///< of a command or process, if it has one
  std::string_view error;              ///< the failure, or why a command did not succeed
};

/// Observes every call, however it ends. Requests that cannot be read as a call are left out. Any
/// thread, several at a time. Must be quick.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  /// Called right before a tool that is not read-only runs.
  virtual void OnCallStarted(const ObservedCall& call) noexcept = 0;

  /// Called once for each call, right before its response is sent.
  virtual void OnCallEnded(const ObservedCall& call, const CallEnd& end) noexcept = 0;
};

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
