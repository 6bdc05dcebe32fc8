// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <functional>
#include <list>

#include "guest/guest.h"
#include "ssh/channel.h"
#include "support/file_descriptor.h"

namespace ssh {

/// Connections to and from ports of the guest's loopback. For the session's thread only.
class Forwarding {
 public:
  using Accept = std::function<void(support::FileDescriptor)>;
  using OnEnd = std::function<void(guest::ForwardEnd)>;

  /// At once; more are refused.
  static constexpr std::size_t kMaxTunnels = 256;

  /// Takes the session's message callback, and refuses all else that the guest asks for. Both must
  /// outlive it. Of each connection to our port, `accept` gets one end of a socket pair.
  Forwarding(ssh_session session, ssh_event event, Accept accept);
  ~Forwarding();

  /// See guest::Guest::Forward. Tries the guest's 127.0.0.1 and ::1, first what worked last.
  void Connect(support::FileDescriptor socket, int port, OnEnd on_end);

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

  void Open(Tunnel& tunnel);
  static int OnMessage(ssh_session session, ssh_message message, void* self);

  ssh_session session_;
  ssh_event event_;
  Accept accept_;
  int port_ = 0;
  bool prefers_ipv6_ = false;
  std::list<Tunnel> tunnels_;  ///< libssh may add one whenever it polls
};

}  // namespace ssh
