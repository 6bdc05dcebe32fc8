#include "support/printable.h"

namespace support {

std::string Printable(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string printable;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      printable += c;
    } else {
      printable += "\\x";
      printable += kHex[byte >> 4U];
      printable += kHex[byte & 0xfU];
    }
  }
  return printable;
}

}  // namespace support
