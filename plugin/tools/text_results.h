#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"

/// Results as the models of agents read them best (mcp::ResultStyle::kText): the contents as they
/// are, and after them at most one line in brackets that says what is not shown and how to get it.
namespace tools {

/// Lines of a file that one call shows if no range is given.
inline constexpr std::uint64_t kMaximumTextLines = 2000;

/// Bytes of each output stream of a command.
inline constexpr std::size_t kMaximumTextOutput = std::size_t{64} << 10;

[[nodiscard]] bool WantsText(const mcp::ToolCall& call);

/// Bytes of contents, so that the line in brackets fits too.
[[nodiscard]] std::size_t TextRoom(const mcp::ToolCall& call);

/// Cuts the beginning of a file (FileReader::ReadBeginning) after the last line that fits into
/// `maximum_bytes` and kMaximumTextLines. Returns the line that says how to go on; empty if nothing
/// was cut.
std::string CutBeginning(std::string& bytes, bool is_whole, std::size_t maximum_bytes);

/// `items`, one on a line, as far as they fit; then how many there are and `advice`.
std::string LinesText(const std::vector<std::string>& items, std::size_t maximum_bytes,
                      std::string_view what, std::string_view advice);

/// A line like one of `ls -la`: mode, size, time in UTC, and the name with "/" behind a
/// directory's.
std::string EntryLine(const guest::DirectoryEntry& entry);

/// Output, then standard error under a heading, then exit code and error.
std::string CommandText(std::string standard_output, std::string_view standard_error,
                        std::optional<int> exit_code, std::string_view error);

}  // namespace tools
