#pragma once

#include <memory>
#include <string>

struct ssh_key_struct;  // libssh's name, so that other folders need not include it

namespace ssh {

struct FreeKey {
  void operator()(ssh_key_struct* key) const noexcept;
};

/// A private key, or why it cannot be used. `problem` never contains anything of the key.
struct Identity {
  std::unique_ptr<ssh_key_struct, FreeKey> key;
  std::string problem;
};

/// Reads a private key file. A key with a passphrase is a problem.
Identity LoadIdentity(const std::string& file);

}  // namespace ssh
