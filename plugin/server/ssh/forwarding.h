// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <functional>
#include <list>

#include "ssh/channel.h"
#include "support/file_descriptor.h"

namespace ssh {

/// A port of the guest's loopback. Of each connection to it, one end of a socket pair is handed
/// out. For the session's thread only.
class Forwarding {
 public:
  using Accept = std::function<void(support::FileDescriptor)>;

  /// At once; more are refused.
  static constexpr std::size_t kMaxTunnels = 256;

  /// Takes the session's message callback. Both must outlive it.
  Forwarding(ssh_session session, ssh_event event, Accept accept);
  ~Forwarding();

  /// Requests the port; 0: any. Call it until it does not return SSH_AGAIN.
  int Listen(int port);
  /// 0 until it is granted.
  [[nodiscard]] int port() const { return port_; }

  /// Moves what can be moved at once. Returns whether to call it again at once.
  bool Step();
  /// Closes all: the session is lost.
  void Clear();

 private:
  struct Tunnel;

  static int OnMessage(ssh_session session, ssh_message message, void* self);

  ssh_session session_;
  ssh_event event_;
  Accept accept_;
  int port_ = 0;
  std::list<Tunnel> tunnels_;  ///< libssh may add one whenever it polls
};

}  // namespace ssh
