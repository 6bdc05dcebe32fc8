#include "support/base64.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace support {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kGroup = 3;

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + kGroup - 1) / kGroup * 4);
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kGroup, bytes.size()))) {
    const std::size_t present = std::min(kGroup, bytes.size());
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < kGroup; ++i) {
      bits <<= 8U;
      if (i < present) bits |= static_cast<unsigned char>(bytes[i]);
    }
    for (std::size_t i = 0; i <= kGroup; ++i) {
      text += i <= present ? kAlphabet[(bits >> (18 - 6 * i)) & 0x3FU] : '=';
    }
  }
  return text;
}

}  // namespace support
