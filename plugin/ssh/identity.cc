#include "ssh/identity.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "support/file_descriptor.h"

namespace ssh {
namespace {

int NotePassphrase(const char*, char*, size_t, int, int, void* wanted) {
  *static_cast<bool*>(wanted) = true;
  return -1;
}

}  // namespace

void FreeKey::operator()(ssh_key_struct* key) const noexcept {
  ssh_key_free(key);
}

Identity LoadIdentity(const std::string& file) {
  // Opened here because libssh does not report why it cannot open a file. Non-blocking, as it may
  // be a FIFO.
  const support::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.valid()) {
    return {nullptr, std::string("cannot read the key file: ") + std::strerror(errno)};
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {nullptr, "the key file is not a regular file"};
  }
  bool passphrase_wanted = false;
  ssh_key key = nullptr;
  const int code =
      ssh_pki_import_privkey_file(file.c_str(), nullptr, &NotePassphrase, &passphrase_wanted, &key);
  Identity identity{std::unique_ptr<ssh_key_struct, FreeKey>(key), ""};
  if (passphrase_wanted) {
    identity.problem = "the key file is protected by a passphrase";
  } else if (code != SSH_OK || !identity.key) {
    identity.problem = "the file has no private key that libssh can read";
  }
  if (!identity.problem.empty()) identity.key.reset();
  return identity;
}

}  // namespace ssh
