#include "mcp/protocol.h"

#include <array>
#include <string_view>
#include <utility>

#include "mcp/json_reader.h"
#include "mcp/json_writer.h"

namespace mcp {
namespace {

using nlohmann::json;

/// Longest name of the client's that an error message repeats, in bytes.
constexpr std::size_t kMaxQuotedName = 128;

ProtocolError InvalidParams(const std::string& message) {
  return {ErrorCode::kInvalidParams, message};
}

/// Null when there is no such member.
const json* Find(const json& object, std::string_view key) {
  const auto member = object.find(std::string(key));
  return member == object.end() ? nullptr : &*member;
}

/// Null when there is none.
const json* Meta(const json& params) {
  const json* meta = Find(params, "_meta");
  if (meta != nullptr && !meta->is_object()) throw InvalidParams("\"_meta\" must be an object");
  return meta;
}

bool DeclaresTasks(const json& capabilities) {
  const json* extensions = Find(capabilities, "extensions");
  if (extensions == nullptr || !extensions->is_object()) return false;
  const json* tasks = Find(*extensions, kTasksExtension);
  return tasks != nullptr && tasks->is_object();
}

std::string RequiredString(const json& params, std::string_view key) {
  const json* value = Find(params, key);
  if (value == nullptr || !value->is_string()) {
    throw InvalidParams("\"" + std::string(key) + "\" must be a string");
  }
  return value->get<std::string>();
}

}  // namespace

bool HasModernMeta(const json& params) {
  constexpr std::array kModernKeys = {meta_key::kProtocolVersion, meta_key::kClientCapabilities,
                                      meta_key::kClientInfo, meta_key::kLogLevel};
  const json* meta = Find(params, "_meta");
  if (meta == nullptr || !meta->is_object()) return false;
  for (const std::string_view key : kModernKeys) {
    if (Find(*meta, key) != nullptr) return true;
  }
  return false;
}

ModernMeta ParseModernMeta(const json& params) {
  const json* meta = Meta(params);
  const json* requested = meta == nullptr ? nullptr : Find(*meta, meta_key::kProtocolVersion);
  if (requested == nullptr || !requested->is_string()) {
    throw InvalidParams("_meta must hold \"" + std::string(meta_key::kProtocolVersion) +
                        "\", a string");
  }
  const std::optional<Version> version = FindVersion(requested->get_ref<const std::string&>());
  if (!version || EraOf(*version) != Era::kModern) {
    throw ProtocolError(ErrorCode::kUnsupportedProtocolVersion, "Unsupported protocol version",
                        {{"supported", SupportedVersions()}, {"requested", *requested}});
  }
  const json* capabilities = Find(*meta, meta_key::kClientCapabilities);
  if (capabilities == nullptr || !capabilities->is_object()) {
    throw InvalidParams("_meta must hold \"" + std::string(meta_key::kClientCapabilities) +
                        "\", an object");
  }
  return {*version, DeclaresTasks(*capabilities)};
}

std::optional<std::string> ParseProgressToken(const json& params) {
  const json* meta = Meta(params);
  const json* token = meta == nullptr ? nullptr : Find(*meta, "progressToken");
  if (token == nullptr) return std::nullopt;
  if (!token->is_string() && !IsWholeNumber(*token)) {
    throw InvalidParams("\"progressToken\" must be a string or an integer");
  }
  return ToJson(*token);
}

Version ParseInitialize(const json& params) {
  const json* requested = Find(params, "protocolVersion");
  if (requested == nullptr) return kNewestLegacyVersion;
  if (!requested->is_string()) throw InvalidParams("\"protocolVersion\" must be a string");
  const std::optional<Version> version = FindVersion(requested->get_ref<const std::string&>());
  return version && EraOf(*version) == Era::kLegacy ? *version : kNewestLegacyVersion;
}

void CheckCursor(const json& params) {
  const json* cursor = Find(params, "cursor");
  // Null is what clients with metoro-io's Go library send for none.
  const bool at_beginning = cursor == nullptr || cursor->is_null() ||
                            (cursor->is_string() && cursor->get_ref<const std::string&>().empty());
  if (at_beginning) return;
  throw InvalidParams("unknown cursor: there is only one page of tools");
}

CallToolParams ParseCallTool(json params) {
  CallToolParams result{RequiredString(params, "name"), json::object()};
  const auto arguments = params.find("arguments");
  if (arguments == params.end()) return result;
  if (!arguments->is_object()) throw InvalidParams("\"arguments\" must be an object");
  result.arguments = std::move(*arguments);
  return result;
}

ListenParams ParseListen(const json& params) {
  const json* notifications = Find(params, "notifications");
  if (notifications == nullptr || !notifications->is_object()) {
    throw InvalidParams("\"notifications\" must be an object");
  }
  const json* ids = Find(*notifications, "taskIds");
  if (ids == nullptr) return {};
  const auto flaw = [] { return InvalidParams("\"taskIds\" must be a list of strings"); };
  if (!ids->is_array()) throw flaw();
  ListenParams result;
  result.task_ids.emplace();
  for (const json& id : *ids) {
    if (!id.is_string()) throw flaw();
    result.task_ids->push_back(id.get<std::string>());
  }
  return result;
}

std::string ParseTaskId(const json& params) {
  return RequiredString(params, "taskId");
}

std::optional<RequestId> ParseCancelled(const json& params) {
  const json* id = Find(params, "requestId");
  return id == nullptr ? std::nullopt : RequestId::From(*id);
}

std::string QuoteName(const std::string& name) {
  std::string quoted;
  AppendJsonString(quoted, name.substr(0, kMaxQuotedName));
  return quoted;
}

}  // namespace mcp
