#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lima {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// FIPS 180-4, from CommonCrypto on macOS and OpenSSL's libcrypto elsewhere.
Sha256Digest Sha256(std::string_view bytes);

}  // namespace lima
