#include "mcp/message.h"

#include <utility>

#include "mcp/json_reader.h"
#include "mcp/json_writer.h"

namespace mcp {
namespace {

using nlohmann::json;

bool IsResponse(const json& object) {
  return !object.contains("method") && (object.contains("result") || object.contains("error"));
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

Message FromValue(json& value) {
  if (!value.is_object()) return Malformed{{}, InvalidRequest("a message must be an object")};
  if (IsResponse(value)) return Ignored{"response to a request that was never sent"};
  std::optional<RequestId> id;
  if (value.contains("id")) {
    id = RequestId::From(value["id"]);
    if (!id) return Malformed{{}, InvalidRequest("\"id\" must be a string or an integer")};
  }
  if (const std::string error = FindError(value); !error.empty()) {
    const bool is_notification = !id && value.contains("method") && value["method"].is_string();
    if (is_notification) return Ignored{"malformed notification: " + error};
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

std::optional<RequestId> RequestId::From(const nlohmann::json& value) {
  if (!value.is_string() && !value.is_number_integer()) return std::nullopt;
  return RequestId(ToJson(value));
}

Message ParseMessage(std::string_view line) {
  JsonText text = ParseJson(line);
  if (text.problem == JsonText::Problem::kNone) return FromValue(text.value);
  if (text.problem == JsonText::Problem::kSyntax) {
    return Malformed{{}, ProtocolError(ErrorCode::kParseError, text.explanation)};
  }
  std::optional<RequestId> id;
  if (text.value.is_object() && text.value.contains("id")) id = RequestId::From(text.value["id"]);
  return Malformed{id, InvalidRequest(text.explanation)};
}

}  // namespace mcp
