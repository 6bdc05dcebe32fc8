#include "tools/limits.h"

#include <algorithm>

#include "shell/output_log.h"

namespace tools {
namespace {

/// In bytes: for the line in brackets.
constexpr std::size_t kLastLineRoom = 512;

/// Structured content is sent twice, once escaped in a text. A byte of a string takes up to
/// `\u001f` and `\\u001f`.
constexpr std::size_t kCopies = 2;
constexpr std::size_t kMaxCopiesPerByte = 6 + 7;

/// For the members beside the output, such as an error.
constexpr std::size_t kOtherBytes = std::size_t{1} << 20;
static_assert(2 * kMaxOutputLimit * kMaxCopiesPerByte + kOtherBytes <= mcp::kMaxMessageBytes);

}  // namespace

FetchLimits LimitsFor(const mcp::ResultFormat& format, const ToolOptions& options) {
  if (format.style == mcp::ResultStyle::kStructured) {
    return {.output_bytes = options.max_output_bytes,
            .process_bytes = shell::kMaxRead,
            .search_bytes = options.max_output_bytes,
            .file_bytes = mcp::kMaxMessageBytes / kCopies,
            .shows_beginning = false};
  }
  const std::size_t room = TextRoom(format);
  // An agent that shows little must see the end of both streams.
  const bool shows_little = format.text_bytes < mcp::ResultFormat().text_bytes;
  const std::size_t output = shows_little ? room / 2 : kMaxTextOutput;
  return {.output_bytes = std::min(options.max_output_bytes, output),
          .process_bytes = std::min(shell::kMaxRead, room),
          .search_bytes = std::min(options.max_output_bytes, room),
          .file_bytes = room,
          .shows_beginning = true};
}

std::size_t TextRoom(const mcp::ResultFormat& format) {
  return std::max(format.text_bytes, 2 * kLastLineRoom) - kLastLineRoom;
}

}  // namespace tools
