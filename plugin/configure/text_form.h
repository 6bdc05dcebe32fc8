#pragma once

#include <cstddef>
#include <string_view>

namespace configure {

/// Bytes of the UTF-8 byte order mark that `text` starts with: 3 or 0. Some editors write one; it
/// is kept and otherwise passed over.
inline std::size_t ByteOrderMarkSize(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

/// How the lines of `text` end, as the first one does: "\r\n" or "\n".
inline std::string_view LineEndOf(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

}  // namespace configure
