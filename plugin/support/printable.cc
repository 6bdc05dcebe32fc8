#include "support/printable.h"

#include <cstddef>

#include "support/utf8.h"

namespace support {
namespace {

void AppendEscaped(std::string& printable, std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    printable += "\\x";
    printable += kHex[byte >> 4U];
    printable += kHex[byte & 0xfU];
  }
}

/// Bytes of the character that begins with `first`, in valid UTF-8.
std::size_t LengthOf(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

bool IsControl(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20 || last == 0x7F;
  if (character.starts_with('\xC2')) return last < 0xA0;                       // U+0080 to U+009F
  if (character.starts_with("\xE2\x80")) return last >= 0xAA && last <= 0xAE;  // U+202A to U+202E
  return character.starts_with("\xE2\x81") && last >= 0xA6 && last <= 0xA9;    // U+2066 to U+2069
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    std::string_view valid = text.substr(0, ValidUtf8Prefix(text));
    text.remove_prefix(valid.size());
    while (!valid.empty()) {
      const std::string_view character = valid.substr(0, LengthOf(valid.front()));
      valid.remove_prefix(character.size());
      if (IsControl(character)) {
        AppendEscaped(printable, character);
      } else {
        printable += character;
      }
    }
    AppendEscaped(printable, text.substr(0, 1));
    text.remove_prefix(text.empty() ? 0 : 1);
  }
  return printable;
}

}  // namespace support
