// SPDX-License-Identifier: Apache-2.0
#include "support/sha256.h"

#ifdef __APPLE__
#include <CommonCrypto/CommonDigest.h>
#else
#include <openssl/evp.h>
#endif

#include <stdexcept>

#include "support/encoding.h"

namespace support {

std::string Sha256(std::string_view bytes) {
  std::string digest(32, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(digest.data());
#ifdef __APPLE__
  CC_SHA256(bytes.data(), static_cast<CC_LONG>(bytes.size()), out);
#else
  if (EVP_Digest(bytes.data(), bytes.size(), out, nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL does not offer SHA-256");
  }
#endif
  return EncodeHex(digest);
}

}  // namespace support
