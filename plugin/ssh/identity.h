#pragma once

#include <memory>
#include <string>

struct ssh_key_struct;  // declared here to keep libssh's header out of other folders

namespace ssh {

struct FreeKey {
  void operator()(ssh_key_struct* key) const noexcept;
};

/// A private key, or why it cannot be used. `problem` never contains key material.
struct Identity {
  std::unique_ptr<ssh_key_struct, FreeKey> key;
  std::string problem;
};

/// Reads a private key file. A key with a passphrase is a problem.
Identity LoadIdentity(const std::string& file);

}  // namespace ssh
