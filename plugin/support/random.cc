// SPDX-License-Identifier: Apache-2.0
#include "support/random.h"

#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "support/encoding.h"

namespace support {

std::string RandomHex(std::size_t digits) {
  std::string bytes((digits + 1) / 2, '\0');
  if (::getentropy(bytes.data(), bytes.size()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot get random bits");
  }
  return EncodeHex(bytes).substr(0, digits);
}

}  // namespace support
