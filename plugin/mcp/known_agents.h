#pragma once

#include <optional>
#include <string_view>

#include "mcp/tool.h"

namespace mcp {

/// How results are encoded for the client of this name (`clientInfo`): as text for agents that are
/// known to show it to a model. `style` overrides that.
[[nodiscard]] ResultFormat FormatFor(std::string_view client,
                                     std::optional<ResultStyle> style = std::nullopt);

}  // namespace mcp
