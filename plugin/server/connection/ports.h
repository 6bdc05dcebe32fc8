// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/file_descriptor.h"

namespace connection {

/// A port of this host that leads to one of the guest.
struct Port {
  std::uint16_t host = 0;
  std::uint16_t guest = 0;
};

/// Reads "[HOST:]GUEST", with ports from 1 to 65535.
std::optional<Port> ParsePort(std::string_view text);

/// Listens on the loopback of this host, 127.0.0.1 and ::1, and on no other address. One thread.
class Ports {
 public:
  /// At once. More wait until one has ended.
  static constexpr std::size_t kMaxConnections = 128;

  /// Listens at once. Throws support::Error if a port is in use, or given twice.
  explicit Ports(std::vector<Port> ports);

  using Connect = std::function<std::shared_ptr<guest::Guest>()>;

  /// Throws support::Error if the guest cannot be reached, or its sshd forbids forwarding.
  void Open(const Connect& connect);

  /// Forwards until sshd forbids it, which is an error. Connects again for the next client when the
  /// connection to the guest was lost, and logs that. `name` is the instance's, for messages.
  [[noreturn]] void Serve(const Connect& connect, const std::string& name);

 private:
  struct Listener {
    support::FileDescriptor socket;
    Port port;
  };
  struct Shared;

  void Accept(const Listener& listener, const Connect& connect, const std::string& name);

  std::vector<Listener> listeners_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<guest::Guest> guest_;
};

}  // namespace connection
