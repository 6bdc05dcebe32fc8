// SPDX-License-Identifier: Apache-2.0
// Servers of the guest on this host's loopback, by `limactl-mcp port`.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <fstream>
#include <optional>
#include <thread>

#include "integration/fixture.h"
#include "testing/sockets.h"

namespace integration {
namespace {

using support::FileDescriptor;
using testing_support::ConnectToLoopback;

void SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// What comes until the end, or `size` bytes; then "[reset]" after an error.
std::string Receive(int socket, std::size_t size = std::string::npos) {
  std::string text;
  std::array<char, 65536> piece;
  while (text.size() < size) {
    const ssize_t count =
        ::recv(socket, piece.data(), std::min(piece.size(), size - text.size()), 0);
    if (count < 0) return text + "[reset]";
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return text;
}

/// A server in the guest. Of each client it reads to the end, and sends that back.
class EchoServer {
 public:
  /// Port 0: a free one.
  explicit EchoServer(int family = AF_INET, std::uint16_t port = 0)
      : listener_(testing_support::MakeSocket(family, SOCK_STREAM)) {
    const int yes = 1;
    (void)::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in6 name{};
    name.sin6_family = AF_INET6;
    name.sin6_addr = in6addr_loopback;
    name.sin6_port = htons(port);
    socklen_t size = sizeof(name);
    if (family == AF_INET) {
      sockaddr_in old = testing_support::InternetAddress("127.0.0.1", port);
      size = sizeof(old);
      std::memcpy(&name, &old, size);
    }
    is_bound_ = ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&name), size) == 0;
    (void)::listen(listener_.get(), 512);
    (void)::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&name), &size);
    port_ = ntohs(name.sin6_port);  // at the same place in both
    acceptor_ = std::thread([this] {
      for (int client = 0; (client = ::accept(listener_.get(), nullptr, nullptr)) >= 0;) {
        ++clients_;
        threads_.emplace_back(
            [socket = FileDescriptor(client)] { SendAll(socket.get(), Receive(socket.get())); });
      }
    });
  }
  ~EchoServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    acceptor_.join();
    for (std::thread& thread : threads_) thread.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool is_bound() const { return is_bound_; }
  [[nodiscard]] int clients() const { return clients_; }

 private:
  FileDescriptor listener_;
  bool is_bound_ = false;
  std::uint16_t port_ = 0;
  std::atomic<int> clients_ = 0;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

std::uint16_t FreePort() {
  std::uint16_t port = 0;
  (void)testing_support::ListenOnLoopback(port);
  return port;
}

class PortsTest : public IntegrationTest {
 protected:
  ChildProcess::Options Options(const std::vector<std::string>& words) const {
    ChildProcess::Options options;
    options.arguments = {LIMACTL_MCP_PROGRAM, "port"};
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    options.arguments.emplace_back("default");
    options.environment["LIMA_HOME"] = LimaHome().string();
    return options;
  }
  static std::string Word(std::uint16_t host, std::uint16_t guest) {
    return std::to_string(host) + ":" + std::to_string(guest);
  }

  /// Starts the command, and waits until a port of this host leads to `guest`. Returns that.
  std::uint16_t Open(std::uint16_t guest, const std::vector<std::string>& sshd_options = {}) {
    StartRoot(sshd_options);
    const std::uint16_t host = FreePort();
    command_.emplace(Options({Word(host, guest)}));
    const std::string line =
        "http://localhost:" + std::to_string(host) + " -> default:" + std::to_string(guest) + "\n";
    std::string came(line.size(), '\0');
    for (std::size_t at = 0; at < came.size();) {
      const ssize_t count =
          ::read(command_->standard_output().get(), came.data() + at, came.size() - at);
      if (count <= 0) break;
      at += static_cast<std::size_t>(count);
    }
    EXPECT_EQ(came, line);
    return host;
  }
  ChildProcess& command() { return *command_; }

  /// What comes back of `bytes`.
  static std::string Echo(std::uint16_t port, const std::string& bytes) {
    const FileDescriptor client = ConnectToLoopback(port);
    SendAll(client.get(), bytes);
    ::shutdown(client.get(), SHUT_WR);
    return Receive(client.get());
  }
  [[nodiscard]] std::size_t Descriptors() const {
    const fs::directory_iterator all("/proc/" + std::to_string(command_->pid()) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::optional<ChildProcess> command_;
};

TEST_F(PortsTest, LeadToTheGuestAndKeepAllBytesAndBothEnds) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  const std::string bytes(300'000, 'x');
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(ConnectToLoopback(port));
  for (const FileDescriptor& client : clients) {
    SendAll(client.get(), bytes);
    ::shutdown(client.get(), SHUT_WR);
  }
  for (const FileDescriptor& client : clients) EXPECT_TRUE(Receive(client.get()) == bytes);
}

TEST_F(PortsTest, AreReachedAtBothAddressesOfTheLoopbackAndNoOther) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  std::string addresses;
  for (const std::string& line : LinesOf(RunProcess({.arguments = {"ss", "-Hltn"}}).output)) {
    if (line.find(":" + std::to_string(port) + " ") != std::string::npos) addresses += line + "\n";
  }
  EXPECT_THAT(addresses, HasSubstr("127.0.0.1:"));
  EXPECT_THAT(addresses, Not(ContainsRegex(R"((0\.0\.0\.0|\*|\[::\]):)" + std::to_string(port))));
}

TEST_F(PortsTest, FindAServerThatListensOnIpv6OnlyAndOneThatMovesThereAndBack) {
  auto server = std::make_unique<EchoServer>(AF_INET6);
  if (!server->is_bound()) GTEST_SKIP() << Skipping("::1");
  const std::uint16_t guest = server->port();
  const std::uint16_t port = Open(guest);
  for (const int family : {AF_INET6, AF_INET, AF_INET6}) {
    server.reset();
    server = std::make_unique<EchoServer>(family, guest);
    ASSERT_TRUE(server->is_bound());
    EXPECT_EQ(Echo(port, "hello"), "hello");
  }
}

TEST_F(PortsTest, ResetConnectionsUntilTheServerListensAndSayItOnce) {
  const std::uint16_t guest = FreePort();
  const std::uint16_t port = Open(guest);
  const std::string note =
      "limactl-mcp: INFO: nothing listens on port " + std::to_string(guest) + " in default yet\n";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Receive(ConnectToLoopback(port).get()), "[reset]");
  {
    const EchoServer server(AF_INET, guest);
    EXPECT_EQ(Echo(port, "hello"), "hello");
  }
  EXPECT_EQ(Receive(ConnectToLoopback(port).get()), "[reset]");
  command().Signal(SIGINT);
  EXPECT_EQ(command().Wait(10s), 0);
  std::string said(4096, '\0');
  said.resize(
      static_cast<std::size_t>(::read(command().standard_error().get(), said.data(), said.size())));
  EXPECT_EQ(said,
            "The page comes from the guest. Your browser counts it as a page of this host.\n" +
                note + note);
}

TEST_F(PortsTest, HaveRoomFor128ConnectionsAndLetOthersWait) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 130; ++i) clients.push_back(ConnectToLoopback(port));
  ASSERT_TRUE(Eventually([&] { return server.clients() == 128; }));
  clients.erase(clients.begin(), clients.begin() + 2);
  EXPECT_TRUE(Eventually([&] { return server.clients() == 130; }));
}

TEST_F(PortsTest, LeaveNothingBehindOfAThousandConnections) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  EXPECT_EQ(Echo(port, "first"), "first");
  const std::size_t before = Descriptors();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(Echo(port, "x"), "x");
  EXPECT_TRUE(Eventually([&] { return Descriptors() <= before; }));
}

TEST_F(PortsTest, HoldBackAServerWhoseClientDoesNotRead) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  const FileDescriptor slow = ConnectToLoopback(port);
  const std::string much(std::size_t{32} << 20U, 'x');
  std::thread writer([&] {
    SendAll(slow.get(), much);
    ::shutdown(slow.get(), SHUT_WR);
  });
  writer.join();  // the server has it all, and sends it back
  EXPECT_EQ(Echo(port, "fast"), "fast");
  const std::string status = ReadFile("/proc/" + std::to_string(command().pid()) + "/status");
  const std::size_t at = status.find("VmHWM:") + 6;
  EXPECT_LT(std::stol(status.substr(at)), 100 * 1024);
  EXPECT_TRUE(Receive(slow.get()) == much);
}

TEST_F(PortsTest, ConnectAgainAfterTheSessionWasLost) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port());
  const FileDescriptor open = ConnectToLoopback(port);
  ASSERT_TRUE(Eventually([&] { return server.clients() == 1; }));
  for (const pid_t session : Instance().SessionPids()) ::kill(session, SIGKILL);
  EXPECT_EQ(Receive(open.get()), "[reset]");
  EXPECT_TRUE(Eventually([&] { return Echo(port, "again") == "again"; }));
}

TEST_F(PortsTest, WorkWithASingleSession) {
  const EchoServer server;
  const std::uint16_t port = Open(server.port(), {"MaxSessions 1"});
  std::vector<FileDescriptor> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(ConnectToLoopback(port));
  for (const FileDescriptor& client : clients) {
    ::shutdown(client.get(), SHUT_WR);
    EXPECT_EQ(Receive(client.get()), "");
  }
}

TEST_F(PortsTest, EndAtOnceByASignalWithAllConnections) {
  for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
    const EchoServer server;
    const std::uint16_t port = Open(server.port());
    const FileDescriptor client = ConnectToLoopback(port);
    ASSERT_TRUE(Eventually([&] { return server.clients() == 1; }));
    command().Signal(number);
    EXPECT_TRUE(command().Wait(5s).has_value());
    EXPECT_THAT(Receive(client.get()), AnyOf("", "[reset]"));
    EXPECT_THROW((void)ConnectToLoopback(port), std::system_error);
  }
}

TEST_F(PortsTest, AreRefusedIfInUseAndThenNoneIsOpened) {
  StartRoot();
  std::uint16_t taken = 0;
  const FileDescriptor other = testing_support::ListenOnLoopback(taken);
  const std::uint16_t free = FreePort();
  const ProcessResult result = RunProcess(Options({Word(free, 1), Word(taken, 2)}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("port " + std::to_string(taken) + " of this host is in use"));
  // The advice works.
  EXPECT_THAT(result.error, HasSubstr("Another one: " + Word(taken + 1, 2)));
  EXPECT_THROW((void)ConnectToLoopback(free), std::system_error);
}

TEST_F(PortsTest, AreRefusedIfSshdForbidsForwarding) {
  for (const char* setting : {"no", "remote"}) {
    StartRoot({std::string("AllowTcpForwarding ") + setting});
    const ProcessResult result = RunProcess(Options({Word(FreePort(), 2)}));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.error, HasSubstr("AllowTcpForwarding local"));
  }
}

}  // namespace
}  // namespace integration
