#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace mcp {

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

/// A request that is answered with a JSON-RPC error. A failed tool throws `support::CallError`
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

}  // namespace mcp
