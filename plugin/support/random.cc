#include "support/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace support {

RandomBits::result_type RandomBits::operator()() {
  result_type bits = 0;
  if (::getentropy(&bits, sizeof bits) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bits");
  }
  return bits;
}

}  // namespace support
