// SPDX-License-Identifier: Apache-2.0
#include "testing/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using support::FileDescriptor;

constexpr const char* kLoopback = "127.0.0.1";

}  // namespace

FileDescriptor MakeSocket(int family, int type) {
  FileDescriptor made(::socket(family, type, 0));
  ThrowIfFailed(made.get(), "socket");
  ThrowIfFailed(::fcntl(made.get(), F_SETFD, FD_CLOEXEC), "socket");
  return made;
}

sockaddr_in InternetAddress(const char* text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

FileDescriptor ListenOnLoopback(std::uint16_t& port) {
  FileDescriptor listener = MakeSocket(AF_INET, SOCK_STREAM);
  sockaddr_in address = InternetAddress(kLoopback, 0);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  ThrowIfFailed(::bind(listener.get(), generic, length), "bind on the loopback");
  ThrowIfFailed(::listen(listener.get(), 16), "listen on the loopback");
  ThrowIfFailed(::getsockname(listener.get(), generic, &length), "getsockname");
  port = ntohs(address.sin_port);
  return listener;
}

FileDescriptor ConnectToLoopback(std::uint16_t port) {
  FileDescriptor client = MakeSocket(AF_INET, SOCK_STREAM);
  const sockaddr_in address = InternetAddress(kLoopback, port);
  ThrowIfFailed(
      ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
      "connect to the loopback");
  return client;
}

FileDescriptor ListenOnUnix(const std::filesystem::path& path) {
  FileDescriptor listener = MakeSocket(AF_UNIX, SOCK_STREAM);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  ThrowIfFailed(
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
      path.string());
  ThrowIfFailed(::listen(listener.get(), 1), path.string());
  return listener;
}

}  // namespace testing_support
