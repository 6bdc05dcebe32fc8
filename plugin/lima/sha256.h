#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace lima {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// FIPS 180-4, by the system's library: CommonCrypto on macOS, OpenSSL's libcrypto (which libssh
/// needs as well) elsewhere.
Sha256Digest Sha256(std::string_view bytes);

}  // namespace lima
