#include <openssl/evp.h>

#include <stdexcept>

#include "lima/sha256.h"

namespace lima {

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL does not offer SHA-256");
  }
  return digest;
}

}  // namespace lima
