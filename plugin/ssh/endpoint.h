#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/context.h"

namespace ssh {

/// Where a guest's sshd listens, and the user to log in as. Nothing has a default: a missing port
/// must never become 22, which may be the host's own sshd.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  std::string user;
  std::vector<std::string> identity_files;  ///< private keys, tried in this order
  /// The value of `Ciphers` in ssh.config without quotes; empty: libssh's default.
  std::string ciphers;
};

struct ConnectionOptions {
  using Duration = support::Clock::duration;

  /// For connecting and authenticating together.
  Duration connect_timeout = std::chrono::seconds(20);

  /// A keep-alive is sent after this long without a packet from the guest…
  Duration keepalive_interval = std::chrono::seconds(15);

  /// …and the connection counts as lost after this many unanswered ones.
  int keepalive_limit = 3;
};

}  // namespace ssh
