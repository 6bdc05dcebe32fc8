#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "mcp/protocol_error.h"

/// Parses one line of input (JSON-RPC 2.0; MCP, basic, "Messages").
namespace mcp {

/// The id of a request: a string or an integer. Ids of different types differ: 1 is not "1".
class RequestId {
 public:
  /// Nothing when `value` is neither a string nor an integer.
  static std::optional<RequestId> From(const nlohmann::json& value);

  /// The id as JSON, exactly as it is echoed.
  [[nodiscard]] const std::string& json() const { return json_; }

  friend bool operator==(const RequestId&, const RequestId&) = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its own 0 for a pointer
  friend auto operator<=>(const RequestId&, const RequestId&) = default;

 private:
  explicit RequestId(std::string json) : json_(std::move(json)) {}
  std::string json_;
};

struct Request {
  RequestId id;
  std::string method;
  nlohmann::json params;  ///< an object; empty when the message had none
};

/// Never answered.
struct Notification {
  std::string method;
  nlohmann::json params;  ///< an object; empty when the message had none
};

/// Not answered: a response (this server sends no requests) or a malformed notification.
struct Ignored {
  std::string reason;  ///< for the log
};

/// Answered with an error.
struct Malformed {
  std::optional<RequestId> id;  ///< if it could be read
  ProtocolError error;
};

using Message = std::variant<Request, Notification, Ignored, Malformed>;

/// Never throws on any input. Batches, which only version 2025-03-26 has, are malformed.
[[nodiscard]] Message ParseMessage(std::string_view line);

}  // namespace mcp
