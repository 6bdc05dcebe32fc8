#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "find/find_listing.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace tools {

/// The value of an optional property that may also be null: both mean that it was not given.
std::optional<std::string> OptionalText(const nlohmann::json& arguments, const char* property);

/// Does `work` with a deadline. When that passes, and not one of the caller's own, throws
/// support::CallError with a text that says how to ask for less: "`what` took longer than 60 s …".
mcp::ToolResult WithTimeLimit(
    const std::string& what, std::chrono::seconds limit, const support::Context& context,
    const std::function<mcp::ToolResult(const support::Context& context)>& work);

/// What to tell beside a result that lacks what the guest's user was not permitted to look at;
/// empty when it lacks nothing.
std::string GapsNote(const find::ListingGaps& gaps, const paths::PathRules& paths);

}  // namespace tools
