// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

/// Parses one line of input (JSON-RPC 2.0; MCP, basic, "Messages").
namespace mcp {

/// How deep arrays and objects may be nested. Tool arguments are three deep.
inline constexpr std::size_t kMaxJsonDepth = 128;

/// How many values one message may hold. A value takes up to 100 bytes of memory but as little as
/// two bytes of text, so the line length alone bounds nothing.
inline constexpr std::size_t kMaxJsonValues = 262'144;

/// Every code that this server sends (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, basic, "Error
/// codes"). -32000 to -32019 are closed to implementations.
enum class ErrorCode {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kMissingClientCapability = -32021,
  kUnsupportedProtocolVersion = -32022,
};

/// A request that is answered with a JSON-RPC error. A failed tool throws `support::Error`
/// instead, which becomes a result with `isError`.
class ProtocolError : public std::runtime_error {
 public:
  ProtocolError(ErrorCode code, const std::string& message, nlohmann::json data = nullptr)
      : std::runtime_error(message), code_(code), data_(std::move(data)) {}

  [[nodiscard]] ErrorCode code() const { return code_; }

  /// Left out of the response when null.
  [[nodiscard]] const nlohmann::json& data() const { return data_; }

 private:
  ErrorCode code_;
  nlohmann::json data_;
};

inline ProtocolError InvalidParams(const std::string& message) {
  return {ErrorCode::kInvalidParams, message};
}

inline ProtocolError InvalidRequest(const std::string& message) {
  return {ErrorCode::kInvalidRequest, message};
}

/// What clients send for "no such object": null, and in PHP an empty list.
bool IsNothing(const nlohmann::json& value);

/// Throws ProtocolError. The last of two members with the same name counts. Whole numbers beyond 64
/// bits become doubles, unpaired surrogates U+FFFD, and numbers beyond the range of a double 9e307.
[[nodiscard]] nlohmann::json ParseJson(std::string text);

/// `"error":{"code":…,"message":…,"data":…}`, a member of the response.
[[nodiscard]] std::string ErrorMember(const ProtocolError& error);

/// The id of a request, a string or an integer, as JSON, exactly as it is echoed: 1 is not "1".
using RequestId = std::string;

/// Nothing when `value` is neither a string nor an integer.
[[nodiscard]] std::optional<RequestId> ParseId(const nlohmann::json& value);

struct Message {
  std::optional<RequestId> id = {};         ///< of a request; a notification has none
  std::optional<ProtocolError> error = {};  ///< the answer to a malformed one, even without an id

  /// Empty for what is ignored: a response (this server sends no requests) or a malformed
  /// notification.
  std::string method = {};
  nlohmann::json params = nlohmann::json::object();  ///< an object; empty when there were none
};

/// Never throws on any input. Batches, which only version 2025-03-26 has, are malformed, and so is
/// a message beyond the limits above, whose id is not read.
[[nodiscard]] Message ParseMessage(std::string line);

}  // namespace mcp
