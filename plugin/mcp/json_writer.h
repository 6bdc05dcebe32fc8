#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// JSON values to text. Instead of nlohmann's `dump` because tool output may be tens of megabytes
/// of bytes that are not UTF-8: this appends to the line that is sent, without a copy in between,
/// and puts U+FFFD in place of each byte that is not UTF-8. The text never contains a raw newline.
namespace mcp {

/// Appends `value`. Whole numbers from `ParseJson` come out with all their digits.
void AppendJson(std::string& out, const nlohmann::json& value);

/// Appends `text` as a JSON string, quotes included.
void AppendJsonString(std::string& out, std::string_view text);

[[nodiscard]] std::string ToJson(const nlohmann::json& value);

/// Writes one object member by member into `out`, in the order of the calls.
class ObjectWriter {
 public:
  /// Writes "{". `out` must outlive this.
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  void Member(std::string_view key, const nlohmann::json& value);
  void Member(std::string_view key, std::string_view text);

  /// `json` is a JSON value already.
  void RawMember(std::string_view key, std::string_view json);

  /// Writes the key alone: the caller appends the value to the string.
  void Key(std::string_view key);

  /// Writes "}".
  void End() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

/// A whole JSON-RPC notification; `params` is a JSON object.
[[nodiscard]] std::string NotificationText(std::string_view method, std::string_view params);

}  // namespace mcp
