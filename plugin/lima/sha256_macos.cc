#include <CommonCrypto/CommonDigest.h>

#include "lima/sha256.h"

namespace lima {

Sha256Digest Sha256(std::string_view bytes) {
  Sha256Digest digest{};
  CC_SHA256(bytes.data(), static_cast<CC_LONG>(bytes.size()), digest.data());
  return digest;
}

}  // namespace lima
