// SPDX-License-Identifier: Apache-2.0
#include "support/printable.h"

#include <algorithm>
#include <cstddef>

#include "support/encoding.h"
#include "support/utf8.h"

namespace support {
namespace {

bool IsControl(std::string_view character) {
  const auto last = static_cast<unsigned char>(character.back());
  if (character.size() == 1) return last < 0x20 || last == 0x7F;
  if (character.starts_with('\xC2')) return last < 0xA0;  // U+0080 to U+009F
  if (character.starts_with("\xE2\x80")) {
    return (last >= 0x8E && last <= 0x8F) || (last >= 0xA8 && last <= 0xAE);
  }
  if (character.starts_with("\xE2\x81")) return last >= 0xA6 && last <= 0xAF;
  return character == "\xD8\x9C";
}

}  // namespace

std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  while (!text.empty()) {
    const std::string_view character = TakeCharacter(text);
    const bool is_safe = FirstCharacterLength(character) > 0 && !IsControl(character);
    if (is_safe || kept.find(character) != std::string_view::npos) {
      printable += character;
    } else {
      for (const char byte : character) printable += "\\x" + EncodeHex({&byte, 1});
    }
  }
  return printable;
}

}  // namespace support
