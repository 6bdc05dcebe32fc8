#include "mcp/message.h"

#include <utility>

#include "mcp/json_reader.h"
#include "mcp/json_writer.h"

namespace mcp {
namespace {

using nlohmann::json;

Malformed InvalidRequest(std::optional<RequestId> id, const std::string& message) {
  return {std::move(id), ProtocolError(ErrorCode::kInvalidRequest, message)};
}

bool IsResponse(const json& object) {
  return !object.contains("method") && (object.contains("result") || object.contains("error"));
}

/// Checks the members that requests and notifications share. Empty when they are valid.
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

json TakeParams(json& object) {
  const auto params = object.find("params");
  return params == object.end() ? json::object() : std::move(*params);
}

Message FromRequest(json& object, const json& raw_id) {
  std::optional<RequestId> id = RequestId::From(raw_id);
  if (!id) return InvalidRequest(std::nullopt, "\"id\" must be a string or an integer");
  if (const std::string error = FindError(object); !error.empty()) return InvalidRequest(id, error);
  auto& method = object["method"].get_ref<std::string&>();
  if (method.starts_with("notifications/")) {
    return InvalidRequest(id, "a notification has no \"id\"");
  }
  return Request{*std::move(id), std::move(method), TakeParams(object)};
}

Message FromNotification(json& object) {
  const std::string error = FindError(object);
  const auto method = object.find("method");
  if (method == object.end() || !method->is_string()) return InvalidRequest(std::nullopt, error);
  if (!error.empty()) return Ignored{"malformed notification: " + error};
  return Notification{std::move(method->get_ref<std::string&>()), TakeParams(object)};
}

Message FromValue(json& value) {
  if (!value.is_object()) return InvalidRequest(std::nullopt, "a message must be an object");
  if (IsResponse(value)) return Ignored{"response to a request that was never sent"};
  const auto id = value.find("id");
  return id == value.end() ? FromNotification(value) : FromRequest(value, *id);
}

}  // namespace

std::optional<RequestId> RequestId::From(const nlohmann::json& value) {
  if (!value.is_string() && !value.is_number_integer()) return std::nullopt;
  return RequestId(ToJson(value));
}

Message ParseMessage(std::string_view line) {
  JsonText text = ParseJson(line);
  switch (text.problem) {
    case JsonText::Problem::kNone:
      return FromValue(text.value);
    case JsonText::Problem::kSyntax:
      return Malformed{std::nullopt, ProtocolError(ErrorCode::kParseError, text.explanation)};
    case JsonText::Problem::kTooLarge:
      break;
  }
  const bool has_id = text.value.is_object() && text.value.contains("id");
  return InvalidRequest(has_id ? RequestId::From(text.value["id"]) : std::nullopt,
                        text.explanation);
}

}  // namespace mcp
