#pragma once

#include <cstddef>
#include <cstdint>

#include "mcp/tool.h"
#include "tools/tool_list.h"

/// How much a tool fetches. A result made of that fits into one message, and as text into what the
/// client's agent shows its model.
namespace tools {

struct FetchLimits {
  std::size_t output_bytes;   ///< of each output stream of a command
  std::size_t process_bytes;  ///< of a process's output
  std::size_t search_bytes;   ///< of the lines that a search finds
  std::size_t file_bytes;     ///< of a file that is read without a range
  bool shows_beginning;       ///< of a larger file; else it is an error
};

[[nodiscard]] FetchLimits LimitsFor(const mcp::ResultFormat& format, const ToolOptions& options);

/// Bytes of contents in a text, so that a line in brackets fits too.
[[nodiscard]] std::size_t TextRoom(const mcp::ResultFormat& format);

/// Matches that one call of `glob` returns; more are an error, never a silent cut.
inline constexpr std::size_t kMaxGlobMatches = 10'000;

/// Larger images are refused: clients send them to a model, which takes no larger ones. In Base64
/// one fits into a message.
inline constexpr std::uint64_t kMaxImageBytes = std::uint64_t{5} << 20;

/// Lines of a file that one call shows if no range is given.
inline constexpr std::uint64_t kMaxTextLines = 2000;

/// Bytes of each output stream of a command that are shown as text.
inline constexpr std::size_t kMaxTextOutput = std::size_t{64} << 10;

}  // namespace tools
