#include "support/utf8.h"

#include <cstddef>

namespace support {
namespace {

bool IsContinuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The length of the well-formed sequence at the start of `bytes` (not empty); 0 when there is none.
// The second byte's range depends on the first: RFC 3629, section 4.
std::size_t SequenceLength(std::string_view bytes) {
  const auto at = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes.size() < length) return 0;
  unsigned char lowest = 0x80;
  unsigned char highest = 0xBF;
  if (first == 0xE0) lowest = 0xA0;
  if (first == 0xED) highest = 0x9F;
  if (first == 0xF0) lowest = 0x90;
  if (first == 0xF4) highest = 0x8F;
  if (at(1) < lowest || at(1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!IsContinuation(at(i))) return 0;
  }
  return length;
}

}  // namespace

bool IsValidUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

}  // namespace support
