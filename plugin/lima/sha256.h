#pragma once

#include <string>
#include <string_view>

namespace lima {

/// The first eight bytes, in hexadecimal, of the SHA-256 (FIPS 180-4) of `bytes`. From CommonCrypto
/// on macOS and OpenSSL's libcrypto elsewhere.
std::string ShortSha256(std::string_view bytes);

}  // namespace lima
