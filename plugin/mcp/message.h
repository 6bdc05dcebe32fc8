#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/protocol_error.h"

/// One line of input to what it is (JSON-RPC 2.0; MCP, basic, "Messages").
namespace mcp {

/// The id of a request: a string or a whole number of any size. Two ids are the same only when
/// their types are: 1 is not "1".
class RequestId {
 public:
  /// Nothing when `value` is null, a fraction, a boolean, an array or an object.
  static std::optional<RequestId> From(const nlohmann::json& value);

  /// The id as JSON, exactly as it is to be echoed.
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

/// Something that is not to be answered: a response (this server sends no requests) or a malformed
/// notification.
struct Ignored {
  std::string reason;  ///< for the log
};

/// Something that is answered with an error.
struct Malformed {
  std::optional<RequestId> id;  ///< when it could be read
  ProtocolError error;
};

using Message = std::variant<Request, Notification, Ignored, Malformed>;

/// A JSON array. Whether it is allowed depends on the version, which the dispatcher knows.
struct Batch {
  std::vector<Message> messages;
};

/// Never throws on any input. Leading and trailing white space is tolerated.
[[nodiscard]] std::variant<Message, Batch> ParseMessage(std::string_view line);

}  // namespace mcp
