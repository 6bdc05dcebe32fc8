// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace support {

/// The SHA-256 (FIPS 180-4) of `bytes`, 64 hexadecimal digits. Uses CommonCrypto on macOS and
/// OpenSSL's libcrypto elsewhere. Throws std::runtime_error if that does not offer it.
std::string Sha256(std::string_view bytes);

}  // namespace support
