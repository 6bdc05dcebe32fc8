// SPDX-License-Identifier: Apache-2.0
#include "mcp/protocol.h"

#include <algorithm>
#include <utility>

#include "support/format.h"

namespace mcp {
namespace {

using nlohmann::json;

/// Longest name from a client that an error message repeats, in bytes.
constexpr std::size_t kMaxQuotedName = 128;

constexpr const char* kClientInfoKey = "io.modelcontextprotocol/clientInfo";

/// Null when there is no such member.
const json* Find(const json& object, const char* key) {
  const auto member = object.find(key);
  return member == object.end() ? nullptr : &*member;
}

/// Empty when there is none.
const json& Meta(const json& params) {
  static const json none = json::object();
  const json* meta = Find(params, "_meta");
  if (meta == nullptr || IsNothing(*meta)) return none;
  if (!meta->is_object()) throw InvalidParams("\"_meta\" must be an object");
  return *meta;
}

const json* FindObject(const json& parent, const char* key) {
  const json* member = Find(parent, key);
  return member != nullptr && member->is_object() ? member : nullptr;
}

const std::string& RequireString(const json& params, const char* key) {
  const json* value = Find(params, key);
  if (value == nullptr || !value->is_string()) {
    throw InvalidParams(support::Format("\"{}\" must be a string", key));
  }
  return value->get_ref<const std::string&>();
}

}  // namespace

json Describe(const ToolDefinition& tool, ResultStyle style) {
  json description = {
      {"name", tool.name}, {"description", tool.description}, {"inputSchema", tool.input_schema}};
  if (!tool.title.empty()) description["title"] = tool.title;
  // Some agents fail a call without structuredContent if there is an output schema.
  const bool has_schema = style == ResultStyle::kStructured && !tool.output_schema.is_null();
  if (has_schema) description["outputSchema"] = tool.output_schema;
  if (!tool.annotations.empty()) description["annotations"] = tool.annotations;
  if (!tool.meta.is_null()) description["_meta"] = tool.meta;
  return description;
}

Json NewResult(Era era, const Json& server) {
  if (era == Era::kLegacy) return Json::object();
  return {{"resultType", "complete"}, {"_meta", {{kServerInfoKey, server}}}};
}

bool HasModernMeta(const json& params) {
  const json* meta = FindObject(params, "_meta");
  constexpr std::array kKeys = {kProtocolVersionKey, kClientCapabilitiesKey, kClientInfoKey,
                                "io.modelcontextprotocol/logLevel"};
  return meta != nullptr &&
         std::ranges::any_of(kKeys, [&](const char* key) { return meta->contains(key); });
}

void CheckModernMeta(const json& params) {
  const json& meta = Meta(params);
  const json* requested = Find(meta, kProtocolVersionKey);
  if (requested == nullptr || !requested->is_string()) {
    throw InvalidParams(support::Format("_meta must hold \"{}\", a string", kProtocolVersionKey));
  }
  if (*requested != kModernVersion) {
    throw ProtocolError(ErrorCode::kUnsupportedProtocolVersion, "Unsupported protocol version",
                        {{"supported", kVersions}, {"requested", *requested}});
  }
  const json* capabilities = Find(meta, kClientCapabilitiesKey);
  if (capabilities == nullptr || (!capabilities->is_object() && *capabilities != json::array())) {
    throw InvalidParams(
        support::Format("_meta must hold \"{}\", an object", kClientCapabilitiesKey));
  }
}

std::string ClientName(const json& params, Era era) {
  const json* client = era == Era::kModern ? FindObject(Meta(params), kClientInfoKey)
                                           : FindObject(params, "clientInfo");
  const json* name = client == nullptr ? nullptr : Find(*client, "name");
  return name != nullptr && name->is_string() ? name->get<std::string>() : "";
}

std::string_view ParseInitialize(const json& params) {
  if (!params.contains("protocolVersion")) return kNewestLegacyVersion;
  const std::string& requested = RequireString(params, "protocolVersion");
  if (requested == "2025-03-26") return "2024-11-05";
  const auto* const version = std::find(kVersions.begin() + 1, kVersions.end(), requested);
  return version == kVersions.end() ? kNewestLegacyVersion : *version;
}

void CheckCursor(const json& params) {
  const json* cursor = Find(params, "cursor");
  // Clients with metoro-io's Go library send null for none.
  if (cursor == nullptr || cursor->is_null() || *cursor == "") return;
  throw InvalidParams("unknown cursor: there is only one page of tools");
}

void CheckListen(const json& params) {
  const json* notifications = FindObject(params, "notifications");
  if (notifications == nullptr) throw InvalidParams("\"notifications\" must be an object");
  if (!notifications->contains("taskIds")) return;
  const json extensions = {{"io.modelcontextprotocol/tasks", json::object()}};
  throw ProtocolError(ErrorCode::kMissingClientCapability, "Missing required client capability",
                      {{"requiredCapabilities", {{"extensions", extensions}}}});
}

CallToolParams ParseCallTool(json params) {
  CallToolParams result;
  if (const json* token = Find(Meta(params), "progressToken")) {
    if (!ParseId(*token)) throw InvalidParams("\"progressToken\" must be a string or an integer");
    result.progress_token = *token;
  }
  result.name = RequireString(params, "name");
  const auto arguments = params.find("arguments");
  if (arguments == params.end() || IsNothing(*arguments)) return result;
  if (!arguments->is_object()) throw InvalidParams("\"arguments\" must be an object");
  result.arguments = std::move(*arguments);
  return result;
}

std::optional<RequestId> ParseCancelled(const json& params) {
  const json* id = Find(params, "requestId");
  return id == nullptr ? std::nullopt : ParseId(*id);
}

std::string QuoteName(const std::string& name) {
  return ToJson(name.substr(0, kMaxQuotedName));
}

}  // namespace mcp
