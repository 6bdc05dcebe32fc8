#include "lima/mount_tag.h"

#include <array>
#include <cstddef>
#include <string_view>

#include "lima/sha256.h"

namespace lima {

std::string MountTag(const Mount& mount) {
  constexpr std::size_t kHashedBytes = 8;
  constexpr std::string_view kDigits = "0123456789abcdef";
  const Sha256Digest digest = Sha256(mount.location + ":" + mount.unclean_mount_point);
  std::string tag = "lima-";
  for (std::size_t i = 0; i < kHashedBytes; ++i) {
    tag += kDigits[digest[i] >> 4U];
    tag += kDigits[digest[i] & 0xFU];
  }
  return tag;
}

}  // namespace lima
