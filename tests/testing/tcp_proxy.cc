// SPDX-License-Identifier: Apache-2.0
#include "testing/tcp_proxy.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include "testing/sockets.h"
#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using support::FileDescriptor;

void SetUpStream(const FileDescriptor& socket) {
  const int yes = 1;
  if (::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0 ||
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)) != 0) {
    ThrowErrno("setting up a socket");
  }
}

bool WouldBlock() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

TcpProxy::TcpProxy(std::uint16_t target_port)
    : target_port_(target_port), listener_(ListenOnLoopback(port_)) {
  ::signal(SIGPIPE, SIG_IGN);
  if (::fcntl(listener_.get(), F_SETFL, O_NONBLOCK) != 0) ThrowErrno("setting up a socket");
  thread_ = std::thread([this] { Loop(); });
}

TcpProxy::~TcpProxy() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.Wake();
  thread_.join();
}

void TcpProxy::HoldAfter(Direction direction, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  budgets_.at(static_cast<std::size_t>(direction)) = bytes;
}

bool TcpProxy::Holds() {
  const std::scoped_lock lock(mutex_);
  return std::any_of(connections_.begin(), connections_.end(), [&](const Connection& connection) {
    for (std::size_t i = 0; i < budgets_.size(); ++i) {
      if (budgets_.at(i) == 0 && !connection.lanes.at(i).waiting.empty()) return true;
    }
    return false;
  });
}

bool TcpProxy::IsAbandoned() {
  const std::scoped_lock lock(mutex_);
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const Connection& connection) { return connection.lanes[0].ended; });
}

void TcpProxy::Release() {
  {
    const std::scoped_lock lock(mutex_);
    budgets_ = {kUnlimited, kUnlimited};
  }
  wake_.Wake();
}

void TcpProxy::FallSilent() {
  {
    const std::scoped_lock lock(mutex_);
    for (Connection& connection : connections_) connection.silent = true;
  }
  wake_.Wake();
}

void TcpProxy::Reset() {
  {
    const std::scoped_lock lock(mutex_);
    for (Connection& connection : connections_) {
      const linger at_once = {.l_onoff = 1, .l_linger = 0};
      for (const FileDescriptor* end : {&connection.client, &connection.target}) {
        ::setsockopt(end->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
      }
      connection.broken = true;
    }
  }
  wake_.Wake();
}

void TcpProxy::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    std::vector<pollfd> polled = {{wake_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    // An idle end is not polled: poll would report its hang-up again and again.
    const auto add = [&](int fd, const Lane& in, const Lane& out, std::uint64_t out_budget) {
      short events = 0;
      if (!in.ended && in.waiting.size() < kMaxKept) events |= POLLIN;
      if (!out.waiting.empty() && out_budget > 0) events |= POLLOUT;
      if (events != 0) polled.push_back({fd, events, 0});
    };
    for (const Connection& connection : connections_) {
      if (connection.silent) continue;
      add(connection.client.get(), connection.lanes[0], connection.lanes[1], budgets_[1]);
      add(connection.target.get(), connection.lanes[1], connection.lanes[0], budgets_[0]);
    }
    lock.unlock();
    ::poll(polled.data(), static_cast<nfds_t>(polled.size()), -1);
    lock.lock();
    wake_.Drain();
    Accept();
    for (Connection& connection : connections_) {
      if (!connection.silent && !connection.broken) Move(connection);
    }
    connections_.remove_if([](const Connection& connection) { return connection.broken; });
  }
}

void TcpProxy::Accept() {
  FileDescriptor client(::accept(listener_.get(), nullptr, nullptr));
  if (!client.valid()) return;
  FileDescriptor target;
  try {
    target = ConnectToLoopback(target_port_);
  } catch (const std::system_error&) {
    return;  // closes the client's end too
  }
  SetUpStream(client);
  SetUpStream(target);
  connections_.push_back({.client = std::move(client), .target = std::move(target)});
}

void TcpProxy::Move(Connection& connection) {
  const int client = connection.client.get();
  const int target = connection.target.get();
  if (!MoveLane(connection.lanes[0], budgets_[0], client, target) ||
      !MoveLane(connection.lanes[1], budgets_[1], target, client) ||
      (connection.lanes[0].end_passed && connection.lanes[1].end_passed)) {
    connection.broken = true;
  }
}

bool TcpProxy::MoveLane(Lane& lane, std::uint64_t& budget, int from, int to) {
  std::array<char, 16384> buffer{};
  while (!lane.ended && lane.waiting.size() < kMaxKept) {
    const ssize_t count = ::recv(from, buffer.data(), buffer.size(), 0);
    if (count < 0 && WouldBlock()) break;
    if (count <= 0) lane.ended = true;
    if (count > 0) lane.waiting.append(buffer.data(), static_cast<std::size_t>(count));
  }
  while (!lane.waiting.empty() && budget > 0) {
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(lane.waiting.size(), budget));
    const ssize_t count = ::send(to, lane.waiting.data(), length, 0);
    if (count < 0) return WouldBlock();
    lane.waiting.erase(0, static_cast<std::size_t>(count));
    if (budget != kUnlimited) budget -= static_cast<std::uint64_t>(count);
  }
  if (lane.ended && lane.waiting.empty() && !lane.end_passed) {
    ::shutdown(to, SHUT_WR);
    lane.end_passed = true;
  }
  return true;
}

}  // namespace testing_support
