// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace support {

/// Hexadecimal: two digits for each byte, in lower case.
inline std::string EncodeHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

/// Base64: RFC 4648, section 4: with padding, without line breaks.
inline std::string EncodeBase64(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint32_t bits = 0;
  unsigned count = 0;  // of the bits that are not written yet
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[(bits >> (count - 6)) & 0x3FU];
  }
  if (count > 0) text += kAlphabet[(bits << (6 - count)) & 0x3FU];
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

}  // namespace support
