#pragma once

#include <variant>

#include "mcp/tool.h"
#include "tools/results.h"

/// The one place that encodes results: as JSON of the contract's output schemas, or as the models
/// of agents read them best (mcp::ResultStyle::kText): the contents as they are, and after them at
/// most one line in brackets that says what is not shown and how to get it.
namespace tools {

[[nodiscard]] mcp::ToolResult Render(const FileContent& file, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const Entries& entries, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const Matches& matches, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const FoundLines& found, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const CommandEnd& command, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const ProcessState& state, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const ProcessOutput& output, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const ProcessList& list, const mcp::ResultFormat& format);
[[nodiscard]] mcp::ToolResult Render(const Written& written, const mcp::ResultFormat& format);

template <typename... Results>
[[nodiscard]] mcp::ToolResult Render(const std::variant<Results...>& one_of,
                                     const mcp::ResultFormat& format) {
  return std::visit([&](const auto& result) { return Render(result, format); }, one_of);
}

}  // namespace tools
