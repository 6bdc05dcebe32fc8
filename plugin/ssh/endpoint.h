#pragma once

#include "lima/ssh_config.h"
#include "support/context.h"

namespace ssh {

/// Has no defaults: a missing port must never become 22, which may be the host's own sshd.
using Endpoint = lima::SshEndpoint;

struct ConnectionOptions {
  using Duration = support::Clock::duration;

  /// For connecting and authenticating together.
  Duration connect_timeout = std::chrono::seconds(20);

  /// A keep-alive is sent after this long without a packet from the guest…
  Duration keepalive_interval = std::chrono::seconds(15);

  /// …and the connection counts as lost after this many unanswered ones: after a minute in all.
  int keepalive_limit = 3;
};

}  // namespace ssh
