#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace support {

/// Random bits of the operating system, which cannot be guessed: a uniform random bit generator, as
/// the standard library's distributions want one. It takes the place of std::random_device, which
/// in GCC 12's library needs glibc 2.36; packages run on older ones. Any thread; throws
/// std::system_error where the operating system has no random bits to give.
class RandomBits {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();
};

/// So many random hexadecimal digits, of four bits each, lower case. Throws as RandomBits.
std::string RandomHex(std::size_t digits);

}  // namespace support
