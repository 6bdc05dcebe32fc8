#include "support/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace support {

RandomBits::result_type RandomBits::operator()() {
  result_type bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bits");
  }
  return bits;
}

std::string RandomHex(std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr unsigned kBitsOfDigit = 4;
  constexpr unsigned kBits = std::numeric_limits<RandomBits::result_type>::digits;
  RandomBits random;
  std::string text;
  while (text.size() < digits) {
    const RandomBits::result_type bits = random();
    for (unsigned shift = 0; shift < kBits && text.size() < digits; shift += kBitsOfDigit) {
      text += kDigits[(bits >> shift) & 0xFU];
    }
  }
  return text;
}

}  // namespace support
