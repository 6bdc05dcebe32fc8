#include "configure/settings_error.h"

namespace configure {

Position PositionAt(std::string_view text, std::size_t offset) {
  Position position;
  for (std::size_t i = ByteOrderMarkSize(text); i < offset && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      ++position.line;
      position.column = 1;
    } else if ((byte & 0xC0U) != 0x80U) {  // not a continuation byte of UTF-8
      ++position.column;
    }
  }
  return position;
}

std::size_t ByteOrderMarkSize(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

std::string LineEndOf(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end != std::string_view::npos && end > 0 && text[end - 1] == '\r' ? "\r\n" : "\n";
}

}  // namespace configure
