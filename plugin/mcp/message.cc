#include "mcp/message.h"

#include "mcp/json_writer.h"
#include "support/log.h"

namespace mcp {
namespace {

using nlohmann::json;

/// Throws unless parsing `text` needs little memory and stack. Looks at brackets and commas only.
/// Not in a callback of the parser: with one, nlohmann takes quadratic time for lists of objects.
void CheckLimits(std::string_view text) {
  std::size_t depth = 0;
  std::size_t values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      if (c == '\\') ++i;
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == '[' || c == '{' || c == ',') ++values;
    if (depth > kMaxJsonDepth) {
      throw InvalidRequest("nested more than " + std::to_string(kMaxJsonDepth) + " levels deep");
    }
    if (values > kMaxJsonValues) {
      throw InvalidRequest("more than " + std::to_string(kMaxJsonValues) +
                           " values in one message");
    }
  }
}

/// The last of two members with the same name counts. Numbers beyond the range of a double, NUL
/// bytes and unpaired surrogates are syntax errors. Whole numbers beyond 64 bits become doubles.
json ParseJson(std::string_view text) {
  CheckLimits(text);
  std::string error = "number out of range";
  // nlohmann's parser takes a NUL for the end of its input.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    error = "NUL at byte " + std::to_string(nul + 1);
  } else {
    try {
      return json::parse(text);
    } catch (const json::parse_error& invalid) {
      error = "not valid JSON at byte " + std::to_string(invalid.byte);
    } catch (const json::out_of_range&) {
    }
  }
  throw ProtocolError(ErrorCode::kParseError, error);
}

/// Checks what requests and notifications have in common. Empty when it is valid.
std::string FindError(const json& object) {
  const auto version = object.find("jsonrpc");
  if (version == object.end() || *version != "2.0") return "\"jsonrpc\" must be \"2.0\"";
  const auto method = object.find("method");
  if (method == object.end()) return "\"method\" is missing";
  if (!method->is_string()) return "\"method\" must be a string";
  const auto params = object.find("params");
  if (params != object.end() && !params->is_object()) return "\"params\" must be an object";
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
    return support::LogWarning("ignored: malformed notification: " + error);
  }
  message.method = std::move(method->get_ref<std::string&>());
  if (message.id && message.method.starts_with("notifications/")) {
    throw InvalidRequest("a notification has no \"id\"");
  }
  if (value.contains("params")) message.params = std::move(value["params"]);
}

}  // namespace

std::string ErrorMember(const ProtocolError& error) {
  Json object = {{"code", error.code()}, {"message", error.what()}};
  if (!error.data().is_null()) object["data"] = error.data();
  return R"("error":)" + ToJson(object);
}

std::optional<RequestId> ParseId(const nlohmann::json& value) {
  if (!value.is_string() && !value.is_number_integer()) return std::nullopt;
  return ToJson(value);
}

Message ParseMessage(std::string_view line) {
  Message message;
  try {
    Read(ParseJson(line), message);
  } catch (const ProtocolError& error) {
    message.error = error;
  }
  return message;
}

}  // namespace mcp
