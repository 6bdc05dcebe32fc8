#pragma once

#include <string>

#include "ssh/handles.h"

namespace ssh {

/// A private key, or why there is none. `problem` never contains anything of the key.
struct Identity {
  KeyHandle key;
  std::string problem;
};

/// Reads a private key file. Never asks for a passphrase: a key that has one is a problem.
Identity LoadIdentity(const std::string& file);

}  // namespace ssh
