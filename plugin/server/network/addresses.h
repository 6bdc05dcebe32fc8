// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/file_descriptor.h"

namespace network {

/// False for addresses of this host, private networks and other reserved ones.
bool IsPublic(in_addr address);

/// The IPv4 addresses of a name, as this host's resolver has them; empty if it has none. Blocks,
/// and cannot be cancelled.
std::vector<in_addr> ResolveOnHost(const std::string& host);

/// A non-blocking connection to the first of at most kMaxAddresses that accepts it within
/// kConnectTimeout. Invalid if none does.
support::FileDescriptor ConnectToFirst(const std::vector<in_addr>& addresses, std::uint16_t port);

inline constexpr std::size_t kMaxAddresses = 4;

}  // namespace network
