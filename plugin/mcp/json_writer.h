#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

/// JSON values to text without a raw newline, with U+FFFD in place of bytes that are not UTF-8.
namespace mcp {

/// Appends `text` as a JSON string, quotes included. For large texts: it copies them only once.
void AppendJsonString(std::string& out, std::string_view text);

[[nodiscard]] std::string ToJson(const nlohmann::json& value);

/// Writes one object member by member into `out`, in the order of the calls.
class ObjectWriter {
 public:
  /// Writes "{". `out` must outlive this.
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }

  void Member(std::string_view key, std::string_view text);
  void JsonMember(std::string_view key, const nlohmann::json& value);

  /// `json` is JSON text, such as a number.
  void RawMember(std::string_view key, std::string_view json);

  /// Writes the key alone. The caller appends the value to the string, which is `out`.
  std::string& Key(std::string_view key);

  void End() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

/// One object with the members that `write` adds to an ObjectWriter.
template <typename Write>
[[nodiscard]] std::string ObjectText(const Write& write) {
  std::string text;
  ObjectWriter object(text);
  write(object);
  object.End();
  return text;
}

/// A whole JSON-RPC notification; `params` is a JSON object.
[[nodiscard]] std::string NotificationText(std::string_view method, std::string_view params);

}  // namespace mcp
