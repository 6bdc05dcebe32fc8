// SPDX-License-Identifier: Apache-2.0
#include "connection/ports.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <future>
#include <set>
#include <utility>

#include "network/addresses.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/pipe.h"

namespace connection {

using guest::ForwardEnd;
using support::Error;
using support::FileDescriptor;
using support::Format;

/// For the ends of connections, which come on the guest's thread.
struct Ports::Shared {
  support::WakePipe ended;
  std::atomic<std::size_t> connections = 0;
  std::atomic<bool> is_forbidden = false;
  std::set<int> silent = {};  ///< ports of which was said that nothing listens

  void OnEnd(ForwardEnd end, int port, const std::string& name) {
    if (end == ForwardEnd::kDone) silent.erase(port);
    if (end == ForwardEnd::kNothingListens && silent.insert(port).second)
      support::LogInfo(Format("nothing listens on port {} in {} yet", port, name));
    is_forbidden = is_forbidden || end == ForwardEnd::kForbidden;
    --connections;
    ended.Wake();
  }
};

namespace {

constexpr int kQueue = 64;
constexpr const char* kForbidden =
    "the guest's sshd forbids forwarding. Allow it there, in /etc/ssh/sshd_config: "
    "AllowTcpForwarding local";

/// Where nothing listens, in any guest.
constexpr int kTrialPort = 1;

std::optional<std::uint16_t> ParseNumber(std::string_view text) {
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && number > 0 ? std::optional(number) : std::nullopt;
}

[[noreturn]] void ThrowInUse(const Port& port) {
  throw Error(
      "port {} of this host is in use, perhaps because Lima forwards the guest's ports. Another "
      "one: {}:{}",
      port.host, port.host == 0xffff ? port.host - 1 : port.host + 1, port.guest);
}

/// Invalid if this host has no such address.
FileDescriptor Listen(const char* address, const Port& port) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address, std::to_string(port.host).c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> name(found, &::freeaddrinfo);
  FileDescriptor listener(::socket(name->ai_family, SOCK_STREAM, 0));
  const int yes = 1;
  (void)::fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
  (void)::fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  (void)::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(listener.get(), name->ai_addr, name->ai_addrlen) == 0 &&
      ::listen(listener.get(), kQueue) == 0) {
    return listener;
  }
  if (errno == EADDRINUSE) ThrowInUse(port);
  if (name->ai_family == AF_INET6 && errno != EACCES) return {};
  throw Error("cannot listen on port {} of this host: {}", port.host, std::strerror(errno));
}

}  // namespace

std::optional<Port> ParsePort(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto host = ParseNumber(text.substr(0, colon));
  const auto guest = colon == std::string_view::npos ? host : ParseNumber(text.substr(colon + 1));
  return host && guest ? std::optional(Port{*host, *guest}) : std::nullopt;
}

Ports::Ports(std::vector<Port> ports) : shared_(std::make_shared<Shared>()) {
  std::set<std::uint16_t> seen;
  for (const Port& port : ports) {
    if (!seen.insert(port.host).second) throw Error("port {} is given twice", port.host);
    // On macOS one can bind beside a server that listens on all addresses, and would hide it.
    if (network::ConnectToFirst({{.s_addr = htonl(INADDR_LOOPBACK)}}, port.host).valid())
      ThrowInUse(port);
    for (const char* address : {"127.0.0.1", "::1"}) {
      FileDescriptor socket = Listen(address, port);
      if (socket.valid()) listeners_.push_back({std::move(socket), port});
    }
  }
}

void Ports::Open(const Connect& connect) {
  guest_ = connect();
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0)
    throw Error("cannot make a socket: {}", std::strerror(errno));
  const FileDescriptor ours(ends[0]);
  const auto result = std::make_shared<std::promise<ForwardEnd>>();
  std::future<ForwardEnd> end = result->get_future();
  guest_->Forward(FileDescriptor(ends[1]), kTrialPort,
                  [result](ForwardEnd reached) { result->set_value(reached); });
  ::shutdown(ours.get(), SHUT_RDWR);  // if something listens there
  const ForwardEnd reached = end.get();
  if (reached == ForwardEnd::kForbidden) throw Error(kForbidden);
  if (reached == ForwardEnd::kLost) throw Error("the connection to the guest was lost");
}

void Ports::Accept(const Listener& listener, const Connect& connect, const std::string& name) {
  FileDescriptor client(::accept(listener.socket.get(), nullptr, nullptr));
  if (!client.valid()) return;
  (void)::fcntl(client.get(), F_SETFD, FD_CLOEXEC);
  if (!guest_ || !guest_->alive()) {
    try {
      if (std::exchange(guest_, nullptr))
        support::LogWarning(Format("the connection to {} was lost; connecting again", name));
      guest_ = connect();
    } catch (const Error& error) {
      support::LogWarning(error.what());
      return;
    }
  }
  ++shared_->connections;
  guest_->Forward(std::move(client), listener.port.guest,
                  [shared = shared_, port = listener.port.guest, name](ForwardEnd end) {
                    shared->OnEnd(end, port, name);
                  });
}

void Ports::Serve(const Connect& connect, const std::string& name) {
  while (!shared_->is_forbidden) {
    std::vector<pollfd> polled = {{shared_->ended.fd(), POLLIN, 0}};
    if (shared_->connections < kMaxConnections) {
      for (const Listener& each : listeners_) polled.push_back({each.socket.get(), POLLIN, 0});
    }
    if (::poll(polled.data(), static_cast<nfds_t>(polled.size()), -1) < 0 && errno != EINTR)
      throw Error("cannot wait for connections: {}", std::strerror(errno));
    if (polled[0].revents != 0) shared_->ended.Drain();
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0 && shared_->connections < kMaxConnections)
        Accept(listeners_[i - 1], connect, name);
    }
  }
  throw Error(kForbidden);
}

}  // namespace connection
