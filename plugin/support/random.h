#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Unpredictable random numbers from the operating system. Not std::random_device, which needs
/// glibc 2.36 with GCC 12. Any thread; both throw std::system_error.
namespace support {

std::uint32_t RandomNumber();

/// Lower case.
std::string RandomHex(std::size_t digits);

}  // namespace support
