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

Message Ignore(const std::string& reason) {
  support::LogWarning("ignored: " + reason);
  return Notification{{}, json::object()};
}

Message FromValue(json& value) {
  if (!value.is_object()) return Malformed{{}, InvalidRequest("a message must be an object")};
  const bool is_response =
      !value.contains("method") && (value.contains("result") || value.contains("error"));
  if (is_response) return Ignore("response to a request that was never sent");
  std::optional<RequestId> id;
  if (value.contains("id")) {
    id = ParseId(value["id"]);
    if (!id) return Malformed{{}, InvalidRequest("\"id\" must be a string or an integer")};
  }
  if (const std::string error = FindError(value); !error.empty()) {
    const bool is_notification = !id && value.contains("method") && value["method"].is_string();
    if (is_notification) return Ignore("malformed notification: " + error);
    return Malformed{id, InvalidRequest(error)};
  }
  auto& method = value["method"].get_ref<std::string&>();
  json params = value.contains("params") ? std::move(value["params"]) : json::object();
  if (!id) return Notification{std::move(method), std::move(params)};
  if (method.starts_with("notifications/")) {
    return Malformed{id, InvalidRequest("a notification has no \"id\"")};
  }
  return Request{*std::move(id), std::move(method), std::move(params)};
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
  try {
    json value = ParseJson(line);
    return FromValue(value);
  } catch (const ProtocolError& error) {
    return Malformed{{}, error};
  }
}

}  // namespace mcp
