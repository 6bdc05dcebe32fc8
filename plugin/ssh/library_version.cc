#include "ssh/library_version.h"

#include <libssh/libssh.h>

#include <string_view>

namespace ssh {

std::string LibraryVersion() {
  // "0.10.6/openssl/zlib"
  const std::string_view text = ssh_version(0);
  return std::string(text.substr(0, text.find('/')));
}

}  // namespace ssh
