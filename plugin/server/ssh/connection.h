// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "guest/guest.h"
#include "lima/ssh_config.h"
#include "support/file_descriptor.h"

namespace ssh {

using Endpoint = lima::SshEndpoint;

struct ConnectionOptions {
  /// For connecting and authenticating together.
  support::Clock::duration connect_timeout = std::chrono::seconds(20);

  /// A keep-alive is sent after this long without a packet from the guest…
  support::Clock::duration keepalive_interval = std::chrono::seconds(15);

  /// …and the connection counts as lost after this many unanswered ones: after a minute in all.
  int keepalive_limit = 3;

  /// Takes each connection to a port of the guest's loopback, a stream socket, on the session's
  /// thread. Empty: no such port.
  std::function<void(support::FileDescriptor)> accept = {};
  /// That port; another one if it is taken. See guest::Guest::forwarded_port.
  int port = 0;
};

/// The version of libssh at run time ("0.10.6"). Its releases carry security fixes.
std::string LibraryVersion();

/// Whether a host key of the endpoint's guest is recorded, which Connect then requires. Throws
/// support::Error if the files cannot be read.
bool HasRecordedHostKey(const Endpoint& endpoint);

/// Connects, checks the host key before anything else is sent, and authenticates. Throws
/// support::ConnectionLost if the guest cannot be reached, support::Error if the server is not
/// the guest or rejects all keys, support::Stopped.
///
/// The guest is reached over one SSH session, which carries everything: each process has its own
/// channel, and files use SFTP version 3. Thread-safe; no call delays another thread's call.
///
/// One thread owns the session. Every call posts its work there and waits, within its context. When
/// the session is lost, every current and later call throws support::ConnectionLost; connect again
/// then.
///
/// shell/process.h says how the channels are shared. If none is free, idle shells are closed and
/// the request waits.
///
/// The guest's destructor closes the session, within a second even if the guest is frozen. All
/// processes end as lost, and must be destroyed in ProcessEvents::OnEnd at the latest.
std::shared_ptr<guest::Guest> Connect(const Endpoint& endpoint, const ConnectionOptions& options,
                                      const support::Context& context);

}  // namespace ssh
