// SPDX-License-Identifier: Apache-2.0
// A port of the guest's loopback that leads to this program.

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <mutex>
#include <thread>

#include "integration/ssh_guest_fixture.h"
#include "testing/sockets.h"

namespace ssh_guest {
namespace {

using support::FileDescriptor;
using testing_support::ConnectToLoopback;

std::string ReadToEnd(const FileDescriptor& socket) {
  std::string text;
  std::array<char, 65536> piece;
  for (ssize_t count = 0; (count = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(count));
  return text;
}

void SendAll(const FileDescriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ASSERT_GT(count, 0);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

class SshGuestForward : public SshGuest {
 protected:
  ~SshGuestForward() override {
    for (std::thread& thread : threads_) thread.join();
  }

  /// Each connection gets back what it has sent, once it has ended.
  ssh::ConnectionOptions Echo(int port = 0) {
    ssh::ConnectionOptions options;
    options.port = port;
    options.accept = [this](FileDescriptor socket) {
      threads_.emplace_back([socket = std::move(socket)] { SendAll(socket, ReadToEnd(socket)); });
    };
    return options;
  }
  static std::uint16_t PortOf(const guest::Guest& guest) {
    return static_cast<std::uint16_t>(guest.forwarded_port());
  }

 private:
  std::vector<std::thread> threads_;  // by the session's thread
};

TEST_F(SshGuestForward, ManyConnectionsAtOnceKeepAllBytesAndBothEnds) {
  const auto guest = Connect(Echo());
  const std::string bytes = Pattern(200'000);
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(ConnectToLoopback(PortOf(*guest)));
  for (const FileDescriptor& client : clients) {
    SendAll(client, bytes);
    ::shutdown(client.get(), SHUT_WR);
  }
  for (const FileDescriptor& client : clients) EXPECT_TRUE(ReadToEnd(client) == bytes);
}

TEST_F(SshGuestForward, AnotherPortIsTakenIfItIsInUse) {
  const auto first = Connect(Echo());
  const auto second = Connect(Echo(first->forwarded_port()));
  EXPECT_NE(second->forwarded_port(), 0);
  EXPECT_NE(second->forwarded_port(), first->forwarded_port());
}

TEST_F(SshGuestForward, GuestWorksWithoutAPortIfItsSshdRefuses) {
  StartInstance({"AllowTcpForwarding no"});
  const auto guest = Connect(Echo());
  EXPECT_EQ(guest->forwarded_port(), 0);
  EXPECT_EQ(guest->RealPath("/", minute_), "/");
}

TEST_F(SshGuestForward, UnreadBytesStayWithTheClientAndDelayNothing) {
  std::mutex mutex;
  std::vector<FileDescriptor> held;
  ssh::ConnectionOptions options;
  options.accept = [&](FileDescriptor socket) {
    const std::scoped_lock lock(mutex);
    held.push_back(std::move(socket));
  };
  const auto guest = Connect(options);
  const FileDescriptor client = ConnectToLoopback(PortOf(*guest));
  const std::string piece(65536, 'x');
  std::size_t sent = 0;
  pollfd writable{client.get(), POLLOUT, 0};
  while (::poll(&writable, 1, 500) > 0) {
    const ssize_t count = ::send(client.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    ASSERT_GT(count, 0);
    sent += static_cast<std::size_t>(count);
    ASSERT_LT(sent, std::size_t{64} << 20);
  }
  EXPECT_EQ(guest->RealPath("/", minute_), "/");
  // What was sent arrives once it is read.
  ::shutdown(client.get(), SHUT_WR);
  ASSERT_TRUE(Eventually([&] {
    const std::scoped_lock lock(mutex);
    return !held.empty();
  }));
  EXPECT_EQ(ReadToEnd(held.front()).size(), sent);
}

TEST_F(SshGuestForward, ClosedSocketClosesTheConnectionInTheGuest) {
  ssh::ConnectionOptions options;
  options.accept = [](FileDescriptor) {};
  const auto guest = Connect(options);
  for (std::size_t i = 0; i < 300; ++i)  // more than may be open at once
    EXPECT_EQ(ReadToEnd(ConnectToLoopback(PortOf(*guest))), "");
  EXPECT_EQ(guest->RealPath("/", minute_), "/");
}

TEST_F(SshGuestForward, LostSessionEndsTheConnections) {
  auto guest = Connect(Echo());
  const FileDescriptor client = ConnectToLoopback(PortOf(*guest));
  SendAll(client, "begun");
  guest.reset();
  EXPECT_EQ(ReadToEnd(client), "");
}

}  // namespace
}  // namespace ssh_guest
