// SPDX-License-Identifier: Apache-2.0
#include "testing/private_network.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <fstream>

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

#include "testing/private_mounts.h"
#include "testing/sockets.h"
#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using support::FileDescriptor;

void Bind(const FileDescriptor& socket, const char* text, std::uint16_t port) {
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = InternetAddress(text, port);
  ThrowIfFailed(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
                "bind");
}

#ifdef __linux__
/// Sets the address of an interface, and takes it up.
void SetUp(const char* name, const char* text) {
  const FileDescriptor socket = MakeSocket(AF_INET, SOCK_DGRAM);
  ifreq request{};
  std::strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
  const sockaddr_in address = InternetAddress(text, 0);
  std::memcpy(&request.ifr_addr, &address, sizeof(address));
  ThrowIfFailed(::ioctl(socket.get(), SIOCSIFADDR, &request), "SIOCSIFADDR");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  ThrowIfFailed(::ioctl(socket.get(), SIOCSIFFLAGS, &request), "SIOCSIFFLAGS");
}

void Replace(const std::string& path, const std::filesystem::path& source, const char* text) {
  std::ofstream(source) << text;
  ThrowIfFailed(::mount(source.c_str(), path.c_str(), nullptr, MS_BIND, nullptr), path.c_str());
}
#endif

}  // namespace

#ifdef __linux__
std::string EnterPrivateNetwork(const std::filesystem::path& directory) try {
  if (std::string problem = EnterPrivateMounts(); !problem.empty()) return problem;
  ThrowIfFailed(::unshare(CLONE_NEWNET), "no network namespace");
  SetUp("lo", "127.0.0.1");
  SetUp("lo:1", kPublicAddress);
  Replace("/etc/hosts", directory / "hosts", "127.0.0.1 localhost\n");
  Replace("/etc/resolv.conf", directory / "resolv.conf",
          "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n");
  Replace("/etc/nsswitch.conf", directory / "nsswitch.conf",
          "passwd: files\ngroup: files\nhosts: files dns\n");
  return "";
} catch (const std::exception& error) {
  return error.what();
}
#else
std::string EnterPrivateNetwork(const std::filesystem::path&) {
  return "this system has no private networks";
}
#endif

RecordingServer::RecordingServer(std::uint16_t port) : listener_(MakeSocket(AF_INET, SOCK_STREAM)) {
  constexpr int kBacklog = 512;
  Bind(listener_, "0.0.0.0", port);
  ThrowIfFailed(::listen(listener_.get(), kBacklog), "listen");
  thread_ = std::thread([this] { Accept(); });
}

RecordingServer::~RecordingServer() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
}

void RecordingServer::Accept() {
  std::vector<std::thread> threads;
  std::vector<FileDescriptor> clients;
  while (true) {
    FileDescriptor client(::accept(listener_.get(), nullptr, nullptr));
    if (!client.valid()) break;
    const std::scoped_lock lock(mutex_);
    received_.emplace_back();
    threads.emplace_back(&RecordingServer::Serve, this, client.get(), received_.size() - 1);
    clients.push_back(std::move(client));
  }
  for (const FileDescriptor& client : clients) ::shutdown(client.get(), SHUT_RDWR);
  for (std::thread& thread : threads) thread.join();
}

void RecordingServer::Serve(int fd, std::size_t index) {
  const auto send = [fd](const std::string& text) {
    (void)::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  };
  std::array<char, 65536> piece;
  std::size_t total = 0;
  for (ssize_t count = 0; (count = ::recv(fd, piece.data(), piece.size(), 0)) > 0;) {
    if (total == 0) send("answer\n");
    total += static_cast<std::size_t>(count);
    const std::scoped_lock lock(mutex_);
    received_[index].append(piece.data(), static_cast<std::size_t>(count));
  }
  send(std::to_string(total) + " bytes\n");
  ::shutdown(fd, SHUT_RDWR);
}

std::vector<std::string> RecordingServer::Received() const {
  const std::scoped_lock lock(mutex_);
  return received_;
}

RecordingNameServer::RecordingNameServer() : socket_(MakeSocket(AF_INET, SOCK_DGRAM)) {
  constexpr std::uint16_t kPort = 53;
  Bind(socket_, "127.0.0.1", kPort);
  thread_ = std::thread([this] { Serve(); });
}

RecordingNameServer::~RecordingNameServer() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

void RecordingNameServer::Serve() {
  constexpr std::size_t kHeader = 12;
  std::array<char, 512> query;
  sockaddr_in client{};
  while (true) {
    socklen_t length = sizeof(client);
    auto* const address = reinterpret_cast<sockaddr*>(&client);
    const ssize_t size = ::recvfrom(socket_.get(), query.data(), query.size(), 0, address, &length);
    if (size <= static_cast<ssize_t>(kHeader)) return;
    std::string name;
    for (std::size_t at = kHeader; query.at(at) != 0;) {
      const auto label = static_cast<std::size_t>(query.at(at));
      name += (name.empty() ? "" : ".") + std::string(&query.at(at + 1), label);
      at += label + 1;
    }
    query[2] = static_cast<char>(0x81);  // a response
    query[3] = static_cast<char>(0x83);  // no such name
    ::sendto(socket_.get(), query.data(), static_cast<std::size_t>(size), 0, address, length);
    const std::scoped_lock lock(mutex_);
    ++queries_[name];
  }
}

std::map<std::string, int> RecordingNameServer::Queries() const {
  const std::scoped_lock lock(mutex_);
  return queries_;
}

}  // namespace testing_support
