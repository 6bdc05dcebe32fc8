#include "support/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace support {

std::uint32_t RandomNumber() {
  std::uint32_t number = 0;
  if (::getentropy(&number, sizeof number) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bits");
  }
  return number;
}

std::string RandomHex(std::size_t digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  while (text.size() < digits) text += kDigits[RandomNumber() & 0xFU];
  return text;
}

}  // namespace support
