#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mcp/dialect.h"
#include "mcp/message.h"

/// The parameters of each method as structs, so that no handler takes JSON apart. Every parser
/// throws ProtocolError with kInvalidParams unless it says otherwise, and says what was expected.
namespace mcp {

/// What the `_meta` of a modern request says (MCP 2026-07-28, basic, "_meta").
struct ModernMeta {
  Version version;
  bool tasks_extension;  ///< this request's client understands task handles
};

/// Whether the request speaks for itself (modern) or belongs to the session (legacy).
[[nodiscard]] bool HasModernMeta(const nlohmann::json& params);

/// Checked in this order: protocolVersion is there, we have it, clientCapabilities are there. A
/// version that we do not have, legacy ones included, throws kUnsupportedProtocolVersion.
[[nodiscard]] ModernMeta ParseModernMeta(const nlohmann::json& params);

/// The progress token as JSON; nothing when none was given.
[[nodiscard]] std::optional<std::string> ParseProgressToken(const nlohmann::json& params);

/// The version that `initialize` is answered with: the one asked for if it is a legacy one of ours,
/// else the newest legacy one, also when the client asks for none.
[[nodiscard]] Version ParseInitialize(const nlohmann::json& params);

/// Checks the cursor of `tools/list`: there is only one page, so only "", null or none is known.
void CheckCursor(const nlohmann::json& params);

struct CallToolParams {
  std::string name;
  nlohmann::json arguments;  ///< an object; empty when there were none
};
[[nodiscard]] CallToolParams ParseCallTool(nlohmann::json params);

struct ListenParams {
  /// Nothing when the client asks for no news of tasks. Other kinds of news are never sent here.
  std::optional<std::vector<std::string>> task_ids;
};
[[nodiscard]] ListenParams ParseListen(const nlohmann::json& params);

[[nodiscard]] std::string ParseTaskId(const nlohmann::json& params);

/// The request that a `notifications/cancelled` is about; nothing when it cannot be read.
[[nodiscard]] std::optional<RequestId> ParseCancelled(const nlohmann::json& params);

/// "\"name\"" for messages, cut when it is long.
[[nodiscard]] std::string QuoteName(const std::string& name);

}  // namespace mcp
