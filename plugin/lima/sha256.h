#pragma once

#include <string>
#include <string_view>

namespace lima {

/// The first eight bytes of the SHA-256 (FIPS 180-4) of `bytes`, in hexadecimal. Uses CommonCrypto
/// on macOS and OpenSSL's libcrypto elsewhere.
std::string ShortSha256(std::string_view bytes);

}  // namespace lima
