#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>

#include "mcp/outcome.h"

namespace mcp {

/// One `tools/call` that has come to its end. Refers to what lives only for the time of
/// CallObserver::OnCallEnded.
struct CallRecord {
  std::chrono::system_clock::time_point received;
  std::chrono::milliseconds duration;  ///< from its receipt to its end, waiting included
  std::string_view tool;               ///< as the client named it
  const nlohmann::json& arguments;     ///< as the client gave them
  bool started;  ///< false: the tool was never called (unknown, bad arguments, no room, stopped)
  const Outcome& outcome;
};

/// Is told of every call, however it ends: for a record of what an agent has done. Not of a request
/// that cannot be read as a call: no name, arguments that are no object, a bad progress token.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  /// Called once for each call, right before its answer is sent. Any thread, several at a time;
  /// must be quick and must not throw.
  virtual void OnCallEnded(const CallRecord& record) = 0;
};

}  // namespace mcp
