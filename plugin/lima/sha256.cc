#include "lima/sha256.h"

#ifdef __APPLE__
#include <CommonCrypto/CommonDigest.h>
#else
#include <openssl/evp.h>
#endif

#include <array>
#include <cstdint>
#include <stdexcept>

namespace lima {

std::string ShortSha256(std::string_view bytes) {
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
  for (std::size_t i = 0; i < 8; ++i) {
    text += kDigits[digest.at(i) >> 4U];
    text += kDigits[digest.at(i) & 0xFU];
  }
  return text;
}

}  // namespace lima
