// SPDX-License-Identifier: Apache-2.0
#include "mcp/message.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "mcp/json_writer.h"
#include "support/format.h"
#include "support/log.h"

namespace mcp {
namespace {

using nlohmann::json;

/// Bytes of an escape such as \ud83d.
constexpr std::size_t kEscape = 6;

bool BeginsWithSurrogate(std::string_view text, unsigned first, unsigned last) {
  if (text.size() < kEscape || !text.starts_with("\\u")) return false;
  unsigned unit = 0;
  const char* const end = text.data() + kEscape;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end && unit >= first &&
         unit <= last;
}

/// Throws unless parsing `text` needs little memory and stack. Looks at brackets and commas only.
/// Not in a callback of the parser: with one, nlohmann takes quadratic time for lists of objects.
/// Replaces what the parser refuses: unpaired surrogates, and numbers beyond the range of a double.
void PrepareText(std::string& text) {
  std::size_t depth = 0;
  std::size_t values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c != '\\') continue;
      const std::string_view rest = std::string_view(text).substr(i);
      const bool is_pair = BeginsWithSurrogate(rest, 0xD800, 0xDBFF) &&
                           BeginsWithSurrogate(rest.substr(kEscape), 0xDC00, 0xDFFF);
      if (!is_pair && BeginsWithSurrogate(rest, 0xD800, 0xDFFF)) text.replace(i + 2, 4, "fffd");
      i += is_pair ? kEscape + 1 : 1;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (c >= '0' && c <= '9') {
      char* end = nullptr;
      const bool is_large = std::isinf(std::strtod(text.data() + i, &end));
      const auto length = static_cast<std::size_t>(end - (text.data() + i));
      if (is_large) text.replace(i, length, "9e307" + std::string(length - 5, ' '));
      i += length - 1;
    }
    if (depth > kMaxJsonDepth) {
      throw InvalidRequest(support::Format("nested more than {} levels deep", kMaxJsonDepth));
    }
    if (values > kMaxJsonValues) {
      throw InvalidRequest(support::Format("more than {} values in one message", kMaxJsonValues));
    }
  }
}

/// Checks what requests and notifications have in common. Empty when it is valid.
std::string FindError(const json& object) {
  const auto version = object.find("jsonrpc");
  if (version == object.end() || *version != "2.0") return "\"jsonrpc\" must be \"2.0\"";
  const auto method = object.find("method");
  if (method == object.end()) return "\"method\" is missing";
  if (!method->is_string()) return "\"method\" must be a string";
  const auto params = object.find("params");
  const bool is_valid = params == object.end() || params->is_object() || IsNothing(*params);
  if (!is_valid) return "\"params\" must be an object";
  return {};
}

/// Throws if the message is malformed.
void Read(json value, Message& message) {
  if (!value.is_object()) throw InvalidRequest("a message must be an object");
  const auto method = value.find("method");
  if (method == value.end() && (value.contains("result") || value.contains("error"))) {
    return support::LogWarning("ignored: response to a request that was never sent");
  }
  if (value.contains("id")) {
    message.id = ParseId(value["id"]);
    if (!message.id) throw InvalidRequest("\"id\" must be a string or an integer");
  }
  if (const std::string error = FindError(value); !error.empty()) {
    if (message.id || method == value.end() || !method->is_string()) throw InvalidRequest(error);
    return support::LogWarning(support::Format("ignored: malformed notification: {}", error));
  }
  message.method = std::move(method->get_ref<std::string&>());
  if (message.id && message.method.starts_with("notifications/")) {
    throw InvalidRequest("a notification has no \"id\"");
  }
  if (value.contains("params") && value["params"].is_object()) {
    message.params = std::move(value["params"]);
  }
}

}  // namespace

bool IsNothing(const nlohmann::json& value) {
  return value.is_null() || (value.is_array() && value.empty());
}

std::string ErrorMember(const ProtocolError& error) {
  Json object = {{"code", error.code()}, {"message", error.what()}};
  if (!error.data().is_null()) object["data"] = error.data();
  return R"("error":)" + ToJson(object);
}

std::optional<RequestId> ParseId(const nlohmann::json& value) {
  if (!value.is_string() && !value.is_number_integer()) return std::nullopt;
  return ToJson(value);
}

json ParseJson(std::string text) {
  PrepareText(text);
  // nlohmann's parser takes a NUL for the end of its input.
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    throw ProtocolError(ErrorCode::kParseError, support::Format("NUL at byte {}", nul + 1));
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& invalid) {
    throw ProtocolError(ErrorCode::kParseError,
                        support::Format("not valid JSON at byte {}", invalid.byte));
  }
}

Message ParseMessage(std::string line) {
  Message message;
  try {
    Read(ParseJson(std::move(line)), message);
  } catch (const ProtocolError& error) {
    message.error = error;
  }
  return message;
}

}  // namespace mcp
