// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/json_writer.h"
#include "mcp/message.h"
#include "mcp/tool.h"

/// Versions, names and parameters of MCP. Every parser throws ProtocolError with kInvalidParams
/// unless it says otherwise.
namespace mcp {

/// Legacy sessions begin with `initialize`; a modern request carries in `_meta` all that is needed
/// to answer it (MCP 2026-07-28, basic/versioning).
enum class Era { kLegacy, kModern };

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kNewestLegacyVersion = "2025-11-25";

/// Newest first, the order in which they are offered. Legacy clients get the fields of the newest
/// legacy version; older ones ignore what they do not know.
inline constexpr std::array kVersions = {kModernVersion, kNewestLegacyVersion,
                                         std::string_view("2025-06-18"),
                                         std::string_view("2024-11-05")};

/// Members of `_meta` that belong to MCP.
inline constexpr const char* kProtocolVersionKey = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* kClientCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* kServerInfoKey = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* kSubscriptionIdKey = "io.modelcontextprotocol/subscriptionId";

/// What is known of a request before its own parameters are parsed.
struct RequestContext {
  Era era = Era::kLegacy;
  ResultFormat format = {};
};

/// A tool as `tools/list` shows it.
[[nodiscard]] nlohmann::json Describe(const ToolDefinition& tool,
                                      ResultStyle style = ResultStyle::kStructured);

/// A result with the members that every modern one has: `resultType` and `server` in `_meta`.
[[nodiscard]] Json NewResult(Era era, const Json& server);

[[nodiscard]] bool HasModernMeta(const nlohmann::json& params);

/// Checks `_meta` in this order: protocolVersion present, supported, clientCapabilities present.
/// Any version but the modern one throws kUnsupportedProtocolVersion.
void CheckModernMeta(const nlohmann::json& params);

/// The name in the `clientInfo` of `initialize` or of a modern request's `_meta`; empty if there is
/// none.
[[nodiscard]] std::string ClientName(const nlohmann::json& params, Era era);

/// The version to answer `initialize` with: the requested one if it is supported. 2024-11-05 for
/// 2025-03-26, whose batches are not supported. Otherwise the newest legacy one.
[[nodiscard]] std::string_view ParseInitialize(const nlohmann::json& params);

/// Checks the cursor of `tools/list`. There is one page, so only "", null or none is known.
void CheckCursor(const nlohmann::json& params);

/// Checks the parameters of `subscriptions/listen`. This server has nothing to notify of. One for
/// tasks throws kMissingClientCapability: there are none.
void CheckListen(const nlohmann::json& params);

struct CallToolParams {
  std::string name;
  nlohmann::json arguments = nlohmann::json::object();  ///< empty when there were none
  Json progress_token = nullptr;                        ///< null: no progress is wanted
};
[[nodiscard]] CallToolParams ParseCallTool(nlohmann::json params);

/// The request that a `notifications/cancelled` names; nothing when it cannot be read.
[[nodiscard]] std::optional<RequestId> ParseCancelled(const nlohmann::json& params);

/// `name` as a JSON string for messages, cut when it is long.
[[nodiscard]] std::string QuoteName(const std::string& name);

}  // namespace mcp
