#include "configure/settings_error.h"

#include <algorithm>

namespace configure {

void FailAt(std::string_view text, std::size_t offset, const std::string& reason) {
  const std::size_t mark = std::min(ByteOrderMarkSize(text), offset);
  const std::string_view before = text.substr(mark, offset - mark);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  throw SettingsError(
      static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
      static_cast<std::size_t>(std::count_if(line.begin(), line.end(), is_character)) + 1, reason);
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
