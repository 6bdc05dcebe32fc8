#include "ssh/identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "ssh/key_check.h"
#include "support/file_descriptor.h"

namespace ssh {
namespace {

int NoteThatPassphraseIsWanted(const char*, char*, size_t, int, int, void* wanted) {
  *static_cast<bool*>(wanted) = true;
  return -1;
}

}  // namespace

Identity LoadIdentity(const std::string& file) {
  // Opened first, since libssh does not say why it could not. Non-blocking: it might be a FIFO.
  const support::FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened.get() < 0) {
    return {nullptr, std::string("cannot read the key file: ") + std::strerror(errno)};
  }
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {nullptr, "the key file is not a regular file"};
  }
  bool passphrase_wanted = false;
  ssh_key key = nullptr;
  const int code = ssh_pki_import_privkey_file(file.c_str(), nullptr, &NoteThatPassphraseIsWanted,
                                               &passphrase_wanted, &key);
  KeyHandle owned(key);
  if (code == SSH_OK && owned) return {std::move(owned), {}};
  if (passphrase_wanted) return {nullptr, "the key file is protected by a passphrase"};
  return {nullptr, "the file holds no private key that libssh can read"};
}

std::string ProblemOfKey(const std::string& file) {
  return LoadIdentity(file).problem;
}

}  // namespace ssh
