// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "network/addresses.h"
#include "network/denials.h"
#include "support/file_descriptor.h"

namespace network {

/// An HTTP proxy for programs of a closed guest. It connects them with the sites that the
/// instance's list allows at that moment, if those have public IPv4 addresses, for TLS with that
/// server name. A name that is not on the list is never looked up. What it refuses is counted as
/// denied, and answered with the command that would allow it. Thread-safe.
class Proxy {
 public:
  /// At once. More are closed.
  static constexpr std::size_t kMaxConnections = 128;
  /// For the head of a request, and for the ClientHello.
  static constexpr std::chrono::seconds kBeginTimeout{10};
  /// Without a byte in either direction.
  static constexpr std::chrono::seconds kIdleTimeout{300};
  /// After a refusal the client may read it.
  static constexpr std::chrono::seconds kLinger{2};

  using Resolve = std::function<std::vector<in_addr>(const std::string& host)>;

  Proxy(std::filesystem::path instance_directory, std::string instance,
        std::shared_ptr<Denials> denials, Resolve resolve = &ResolveOnHost);

  /// Serves one client, a stream socket, in a thread of its own, which may outlive this: looking a
  /// name up cannot be cancelled. Never waits.
  void Serve(support::FileDescriptor client);

  /// Of the guest, to ask for at the next connection. For who connects.
  int port = 3128;

 private:
  struct Shared;
  class Connection;
  std::shared_ptr<Shared> shared_;
};

/// For /bin/sh: exports what makes programs use the proxy at a port of the guest.
std::string ExportVariables(int port);

}  // namespace network
