#include "mcp/protocol.h"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

using nlohmann::json;

/// Longest name from a client that an error message repeats, in bytes.
constexpr std::size_t kMaxQuotedName = 128;

/// Null when there is no such member.
const json* Find(const json& object, std::string_view key) {
  const auto member = object.find(std::string(key));
  return member == object.end() ? nullptr : &*member;
}

/// Empty when there is none.
const json& Meta(const json& params) {
  static const json none = json::object();
  const json* meta = Find(params, "_meta");
  if (meta == nullptr) return none;
  if (!meta->is_object()) throw InvalidParams("\"_meta\" must be an object");
  return *meta;
}

const json* FindObject(const json& parent, std::string_view key) {
  const json* member = Find(parent, key);
  return member != nullptr && member->is_object() ? member : nullptr;
}

const std::string& RequireString(const json& params, std::string_view key) {
  const json* value = Find(params, key);
  if (value == nullptr || !value->is_string()) {
    throw InvalidParams("\"" + std::string(key) + "\" must be a string");
  }
  return value->get_ref<const std::string&>();
}

}  // namespace

json Describe(const ServerInfo& server) {
  return {{"name", server.name}, {"title", server.title}, {"version", server.version}};
}

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

void BeginResult(ObjectWriter& result, Era era, const ServerInfo& server) {
  if (era == Era::kLegacy) return;
  result.Member("resultType", "complete");
  result.JsonMember("_meta", json{{std::string(meta_key::kServerInfo), Describe(server)}});
}

bool HasModernMeta(const json& params) {
  const json* meta = FindObject(params, "_meta");
  if (meta == nullptr) return false;
  constexpr std::array kModernKeys = {meta_key::kProtocolVersion, meta_key::kClientCapabilities,
                                      meta_key::kClientInfo, meta_key::kLogLevel};
  return std::any_of(kModernKeys.begin(), kModernKeys.end(),
                     [meta](std::string_view key) { return Find(*meta, key) != nullptr; });
}

void CheckModernMeta(const json& params) {
  const json& meta = Meta(params);
  const json* requested = Find(meta, meta_key::kProtocolVersion);
  if (requested == nullptr || !requested->is_string()) {
    throw InvalidParams("_meta must hold \"" + std::string(meta_key::kProtocolVersion) +
                        "\", a string");
  }
  if (*requested != kModernVersion) {
    throw ProtocolError(ErrorCode::kUnsupportedProtocolVersion, "Unsupported protocol version",
                        {{"supported", kVersions}, {"requested", *requested}});
  }
  if (FindObject(meta, meta_key::kClientCapabilities) == nullptr) {
    throw InvalidParams("_meta must hold \"" + std::string(meta_key::kClientCapabilities) +
                        "\", an object");
  }
}

std::string ClientName(const json& params, Era era) {
  const json* client = era == Era::kModern ? FindObject(Meta(params), meta_key::kClientInfo)
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
    result.progress_token = ParseId(*token);
    if (!result.progress_token) {
      throw InvalidParams("\"progressToken\" must be a string or an integer");
    }
  }
  result.name = RequireString(params, "name");
  const auto arguments = params.find("arguments");
  if (arguments == params.end()) return result;
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
