// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/context.h"

/// What MCP knows of a tool, without Lima or SSH.
namespace mcp {

/// Which calls share threads. Calls of one lane never take the threads of another.
enum class Lane {
  kQuick,    ///< ends by itself within a minute
  kCommand,  ///< may take any time
  kWaiting,  ///< mostly waits, as long as its arguments say
};

/// What `tools/list` reports about a tool (specification: server/tools, "Data types").
struct ToolDefinition {
  std::string name;
  std::string title = {};  ///< for people; left out when empty
  std::string description = {};
  nlohmann::json input_schema = {};   ///< JSON Schema; arguments are checked before the call
  nlohmann::json output_schema = {};  ///< JSON Schema of `structuredContent`; left out when null,
                                      ///< and for ResultStyle::kText
  nlohmann::json annotations = nlohmann::json::object();  ///< ToolAnnotations; left out when empty
  nlohmann::json meta = {};                               ///< `_meta`; left out when null

  Lane lane = Lane::kQuick;

  /// What to do when a result is too large to send, as an imperative.
  std::string when_too_large = "ask for less";
};

/// Shows the client what a long call is doing.
class ProgressReporter {
 public:
  virtual ~ProgressReporter() = default;

  /// Sets what the call is doing now: one line of UTF-8. The server sends it about once a second,
  /// with the elapsed time, if the client requested progress. Never waits. Thread-safe.
  virtual void SetStatus(std::string text) = 0;
};

/// How results are encoded for a client.
enum class ResultStyle {
  kStructured,  ///< as `structuredContent`, and the same JSON as text
  kText,        ///< as plain text, for agents that show it to a model
};

/// What suits the client of a call.
struct ResultFormat {
  ResultStyle style = ResultStyle::kStructured;
  std::size_t text_bytes = std::size_t{100} * 1024;  ///< of one text that it shows
};

/// One `tools/call`.
struct ToolCall {
  const nlohmann::json& arguments;  ///< an object that satisfies the input schema
  support::Context context;         ///< stopped on cancel, end of input, termination
  ProgressReporter& progress;
  ResultFormat format = {};
};

/// The longest message with a result, in bytes. A longer one becomes a failure. One agent ends the
/// connection at 16 MiB, MCP's TypeScript SDK at 10 MiB.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{8} << 20;

/// What a tool returns. A failed call throws `support::Error` instead.
// NOLINTNEXTLINE(bugprone-exception-escape): clang-tidy 14 doubts the noexcept of nlohmann/json
struct ToolResult {
  /// The call's. For kStructured, `content` is the JSON text of an object that satisfies the output
  /// schema, on one line, in valid UTF-8.
  ResultStyle style = ResultStyle::kStructured;
  std::string content = "{}";

  /// Further content blocks (specification: server/tools, "Tool result"): a note, an image.
  std::vector<nlohmann::ordered_json> more_content = {};

  /// The exit code of a command or process that has one. For a CallObserver.
  std::optional<int> exit_code = {};

  /// Why a command did not succeed; empty if it did. For a CallObserver.
  std::string error = {};
};

struct Tool {
  ToolDefinition definition;

  /// Any thread, several at a time. Returns or throws soon after the call's context is stopped. See
  /// OutcomeOf (outcome.h) for what becomes of exceptions.
  std::function<ToolResult(const ToolCall&)> call;
};

}  // namespace mcp
