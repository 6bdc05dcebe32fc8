#include "support/sha256.h"

#ifdef __APPLE__
#include <CommonCrypto/CommonDigest.h>
#else
#include <openssl/evp.h>
#endif

#include <array>
#include <cstdint>
#include <stdexcept>

namespace support {

std::string Sha256(std::string_view bytes) {
  std::array<std::uint8_t, 32> digest{};
#ifdef __APPLE__
  CC_SHA256(bytes.data(), static_cast<CC_LONG>(bytes.size()), digest.data());
#else
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL does not offer SHA-256");
  }
#endif
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace support
