// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace support {

/// Unpredictable hexadecimal digits from the operating system, in lower case; at most 512. Not
/// std::random_device, which needs glibc 2.36 with GCC 12. Any thread. Throws std::system_error.
std::string RandomHex(std::size_t digits);

}  // namespace support
