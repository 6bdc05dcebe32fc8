#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/context.h"

/// What MCP knows of a tool. Everything here is free of Lima and SSH.
namespace mcp {

/// What `tools/list` says of a tool (specification: server/tools, "Data types").
struct ToolDefinition {
  std::string name;
  std::string title;  ///< for people; left out when empty
  std::string description;
  nlohmann::json input_schema;   ///< JSON Schema; arguments are checked against it before the call
  nlohmann::json output_schema;  ///< JSON Schema of `structuredContent`; left out when null
  nlohmann::json annotations;    ///< ToolAnnotations; an empty object says nothing
  nlohmann::json meta;           ///< `_meta`; left out when null

  /// A call may take any time. Such calls never keep the others from a thread.
  bool open_ended = false;
};

/// Tells the client that a long call is alive. Does nothing unless the client asked for progress.
class ProgressReporter {
 public:
  virtual ~ProgressReporter() = default;

  /// False when nobody listens, so that callers need not compose messages. Thread-safe.
  [[nodiscard]] virtual bool requested() const = 0;

  /// Sends one notification; the value of `progress` is the seconds since the call began and always
  /// increases. Never sends anything once the call has been answered. Thread-safe.
  virtual void Report(const std::string& message) = 0;
};

/// One `tools/call`.
struct ToolCall {
  const nlohmann::json& arguments;  ///< an object that satisfies the input schema
  support::Context context;         ///< stopped on cancel, end of input, termination
  ProgressReporter& progress;
};

/// What a tool returns. A failure is not a result: throw `support::CallError`.
// NOLINTNEXTLINE(bugprone-exception-escape): clang-tidy 14 doubts the noexcept of nlohmann/json
struct ToolResult {
  /// Satisfies the output schema; sent as `structuredContent` and, as text, in `content[0]`.
  nlohmann::json structured = {};

  /// Further content blocks (specification: server/tools, "Tool result"): a note, an image.
  std::vector<nlohmann::json> more_content = {};

  /// In place of `structured`: the same as JSON text. For results of many values: to make each of
  /// them first may take longer than the guest does.
  std::string structured_text = {};
};

/// A tool. Calls may run at the same time, each in a thread of its own.
class Tool {
 public:
  virtual ~Tool() = default;

  /// The same every time, and there for as long as the tool is.
  [[nodiscard]] virtual const ToolDefinition& definition() const = 0;

  /// Returns or throws soon after the call's context is stopped. What it throws becomes an answer:
  /// see OutcomeOf (outcome.h).
  virtual ToolResult Call(const ToolCall& call) = 0;
};

}  // namespace mcp
