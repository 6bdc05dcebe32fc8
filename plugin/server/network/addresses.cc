// SPDX-License-Identifier: Apache-2.0
#include "network/addresses.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace network {
namespace {

/// In milliseconds, for each address.
constexpr int kConnectTimeout = 5000;

struct Range {
  std::uint32_t first;
  int bits;
};

constexpr std::uint32_t Ip(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return a << 24U | b << 16U | c << 8U;
}

/// IANA's special-purpose addresses, multicast and above.
constexpr std::array kNotPublic = {
    Range{Ip(0, 0, 0), 8},      Range{Ip(10, 0, 0), 8},     Range{Ip(100, 64, 0), 10},
    Range{Ip(127, 0, 0), 8},    Range{Ip(169, 254, 0), 16}, Range{Ip(172, 16, 0), 12},
    Range{Ip(192, 0, 0), 24},   Range{Ip(192, 0, 2), 24},   Range{Ip(192, 88, 99), 24},
    Range{Ip(192, 168, 0), 16}, Range{Ip(198, 18, 0), 15},  Range{Ip(198, 51, 100), 24},
    Range{Ip(203, 0, 113), 24}, Range{Ip(224, 0, 0), 3},
};

bool Connect(int fd, in_addr address, std::uint16_t port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr = address;
  name.sin_port = htons(port);
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return false;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0) return true;
  pollfd connecting{fd, POLLOUT, 0};
  if (errno != EINPROGRESS || ::poll(&connecting, 1, kConnectTimeout) <= 0) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

bool IsPublic(in_addr address) {
  const std::uint32_t number = ntohl(address.s_addr);
  return std::none_of(kNotPublic.begin(), kNotPublic.end(), [&](const Range& range) {
    return (number ^ range.first) >> (32 - range.bits) == 0;
  });
}

std::vector<in_addr> ResolveOnHost(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
  std::vector<in_addr> addresses;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family == AF_INET)
      addresses.push_back(reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr);
  }
  return addresses;
}

support::FileDescriptor ConnectToFirst(const std::vector<in_addr>& addresses, std::uint16_t port) {
  for (std::size_t i = 0; i < std::min(addresses.size(), kMaxAddresses); ++i) {
    support::FileDescriptor server(::socket(AF_INET, SOCK_STREAM, 0));
    if (server.valid() && Connect(server.get(), addresses[i], port)) return server;
  }
  return {};
}

}  // namespace network
