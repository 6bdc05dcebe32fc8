// SPDX-License-Identifier: Apache-2.0
#include "support/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace support {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// Most text is ASCII: eight bytes at a time.
std::size_t AsciiPrefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + kWord <= text.size(); at += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, kWord);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

constexpr std::size_t kMaxCharacterBytes = 4;

bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// 0: no character begins with it.
std::size_t LengthByFirstByte(unsigned char first) {
  if (first < 0x80) return 1;
  return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

}  // namespace

std::size_t FirstCharacterLength(std::string_view bytes) {
  const auto at = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  const unsigned char first = at(0);
  const std::size_t length = LengthByFirstByte(first);
  if (length < 2 || bytes.size() < length) return length == 1 ? 1 : 0;
  // The range of the second byte depends on the first (RFC 3629, section 4).
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  if (first == 0xE0) lowest = 0xA0;
  if (first == 0xED) highest = 0x9F;
  if (first == 0xF0) lowest = 0x90;
  if (first == 0xF4) highest = 0x8F;
  if (at(1) < lowest || at(1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!IsContinuation(bytes[i])) return 0;
  }
  return length;
}

std::string_view TakeCharacter(std::string_view& text) {
  const std::size_t length = std::max<std::size_t>(1, FirstCharacterLength(text));
  const std::string_view character = text.substr(0, length);
  text.remove_prefix(length);
  return character;
}

std::string_view WithoutCutEnd(std::string_view bytes) {
  for (std::size_t length = 1; length < std::min(bytes.size() + 1, kMaxCharacterBytes); ++length) {
    const char byte = bytes[bytes.size() - length];
    if (IsContinuation(byte)) continue;
    const bool is_cut = LengthByFirstByte(static_cast<unsigned char>(byte)) > length;
    return is_cut ? bytes.substr(0, bytes.size() - length) : bytes;
  }
  return bytes;
}

std::string_view CutText(std::string_view text, std::size_t maximum) {
  return text.size() <= maximum ? text : WithoutCutEnd(text.substr(0, maximum));
}

std::string_view WithoutCutBeginning(std::string_view bytes) {
  std::size_t begin = 0;
  while (begin < std::min(bytes.size(), kMaxCharacterBytes - 1) && IsContinuation(bytes[begin])) {
    ++begin;
  }
  return bytes.substr(begin);
}

std::size_t ValidUtf8Prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (true) {
    at += AsciiPrefix(bytes.substr(at));
    if (at == bytes.size()) return at;
    const std::size_t length = FirstCharacterLength(bytes.substr(at));
    if (length == 0) return at;
    at += length;
  }
}

bool IsValidUtf8(std::string_view bytes) {
  return ValidUtf8Prefix(bytes) == bytes.size();
}

DecodedText DecodeUtf8(std::string_view bytes) {
  DecodedText decoded;
  decoded.text.reserve(bytes.size());
  while (true) {
    const std::size_t valid = ValidUtf8Prefix(bytes);
    decoded.text += bytes.substr(0, valid);
    if (valid == bytes.size()) return decoded;
    decoded.text += kReplacementCharacter;
    ++decoded.replaced;
    bytes.remove_prefix(valid + 1);
  }
}

std::string ToUtf8(std::string_view bytes) {
  return DecodeUtf8(bytes).text;
}

}  // namespace support
