#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/context.h"

namespace ssh {

/// Where a guest's sshd listens and who to be there. Nothing has a default: a missing port must
/// never become 22, which may be the sshd of the user's own machine.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  std::string user;
  std::vector<std::string> identity_files;  ///< private keys, tried in this order
  /// The value of `Ciphers` in ssh_config, without quotes, such as "^aes128-gcm@openssh.com";
  /// empty: libssh's own choice. See CipherList.
  std::string ciphers;
};

struct ConnectionOptions {
  using Duration = support::Clock::duration;

  /// For connecting and authenticating together.
  Duration connect_timeout = std::chrono::seconds(20);

  /// How long the guest may stay silent while it owes the answer to an SFTP request or to the
  /// opening of a channel. A caller's own deadline comes on top.
  Duration operation_timeout = std::chrono::seconds(30);

  /// After this long without a word from the guest it is asked for one…
  Duration keepalive_interval = std::chrono::seconds(15);

  /// …and after this many intervals without one the connection counts as lost.
  int keepalive_limit = 3;
};

}  // namespace ssh
