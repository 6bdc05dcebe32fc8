#include "lima/sha256.h"

#ifdef __APPLE__
#include <CommonCrypto/CommonDigest.h>
#else
#include <openssl/evp.h>
#endif

#include <stdexcept>

namespace lima {

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest{};
#ifdef __APPLE__
  CC_SHA256(bytes.data(), static_cast<CC_LONG>(bytes.size()), digest.data());
#else
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL does not offer SHA-256");
  }
#endif
  return digest;
}

}  // namespace lima
