#include "tools/text_encoding.h"

#include <cstdint>
#include <cstring>

namespace tools {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Most text is ASCII: eight bytes at a time.
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

/// Length of the sequence of several bytes that `text` begins with; 0 when it is none (RFC 3629,
/// section 4).
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2U
                             : lead >= 0xE0 && lead <= 0xEF ? 3U
                             : lead >= 0xF0 && lead <= 0xF4 ? 4U
                                                            : 0U;
  if (length == 0 || text.size() < length) return 0;
  const unsigned lowest = lead == 0xE0 ? 0xA0U : lead == 0xF0 ? 0x90U : 0x80U;
  const unsigned highest = lead == 0xED ? 0x9FU : lead == 0xF4 ? 0x8FU : 0xBFU;
  if (byte(1) < lowest || byte(1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

}  // namespace

std::size_t ValidUtf8Prefix(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    at += AsciiPrefix(text.substr(at));
    if (at == text.size()) return at;
    const std::size_t length = SequenceLength(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
}

Utf8Text DecodeUtf8(std::string_view bytes) {
  Utf8Text decoded;
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

}  // namespace tools
