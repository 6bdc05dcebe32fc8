// SPDX-License-Identifier: Apache-2.0
#include "testing/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using support::FileDescriptor;

void Check(int result, const std::string& what) {
  if (result < 0) ThrowErrno(what);
}

FileDescriptor MakeSocket(int family) {
  FileDescriptor made(::socket(family, SOCK_STREAM, 0));
  Check(made.get(), "socket");
  Check(::fcntl(made.get(), F_SETFD, FD_CLOEXEC), "socket");
  return made;
}

sockaddr_in Loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

FileDescriptor ListenOnLoopback(std::uint16_t& port) {
  FileDescriptor listener = MakeSocket(AF_INET);
  sockaddr_in address = Loopback(0);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  Check(::bind(listener.get(), generic, length), "bind on the loopback");
  Check(::listen(listener.get(), 16), "listen on the loopback");
  Check(::getsockname(listener.get(), generic, &length), "getsockname");
  port = ntohs(address.sin_port);
  return listener;
}

FileDescriptor ConnectToLoopback(std::uint16_t port) {
  FileDescriptor client = MakeSocket(AF_INET);
  const sockaddr_in address = Loopback(port);
  Check(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
        "connect to the loopback");
  return client;
}

FileDescriptor ListenOnUnix(const std::filesystem::path& path) {
  FileDescriptor listener = MakeSocket(AF_UNIX);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  Check(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
        path.string());
  Check(::listen(listener.get(), 1), path.string());
  return listener;
}

}  // namespace testing_support
