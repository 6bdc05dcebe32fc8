// SPDX-License-Identifier: Apache-2.0
#include "network/proxy.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "network/allow_list.h"
#include "network/request.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/printable.h"

namespace network {

struct Proxy::Shared {
  std::filesystem::path instance_directory;
  std::string instance;
  std::shared_ptr<Denials> denials;
  Resolve resolve;
  std::atomic<std::size_t> connections = 0;
};

namespace {

using std::chrono::milliseconds;
using support::Clock;
using support::FileDescriptor;
using support::Format;

constexpr std::size_t kPiece = std::size_t{64} * 1024;
constexpr std::size_t kMaxShownTarget = 100;
constexpr const char* kOnlyHttps = "only https is reached from here";

constexpr int kFlags = support::kNoSigpipe | MSG_DONTWAIT;

/// Appends what comes next. False at the end, and at the deadline.
bool ReadMore(int fd, std::string& bytes, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  pollfd readable{fd, POLLIN, 0};
  if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) <= 0) return false;
  std::array<char, kPiece> piece;
  const ssize_t count = ::recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count > 0) bytes.append(piece.data(), static_cast<std::size_t>(count));
  return count > 0;
}

void Send(int fd, const std::string& text) {
  (void)::send(fd, text.data(), text.size(), kFlags);
}

/// What is answered instead of 200.
struct Refusal {
  int status;
  std::string reason;
};

/// Reads on until the client closes: closing earlier could take the answer back.
void Refuse(int client, const Refusal& refusal) {
  const std::string body =
      refusal.reason + "\nThere is no other way out of this virtual machine.\n";
  Send(client, Format("HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
                      "Connection: close\r\n\r\n{}",
                      refusal.status, refusal.reason, body.size(), body));
  ::shutdown(client, SHUT_WR);
  const auto deadline = Clock::now() + Proxy::kLinger;
  for (std::string ignored; ReadMore(client, ignored, deadline);) ignored.clear();
}

/// One direction of an open connection.
struct Flow {
  int from;
  int to;
  std::string bytes = {};  ///< read, but not yet sent
  bool has_ended = false;  ///< nothing more comes
  bool is_closed = false;  ///< and `to` knows

  [[nodiscard]] bool reads() const { return !has_ended && bytes.empty(); }

  /// Moves what can be moved at once. False if the connection is lost.
  bool Move() {
    if (reads()) {
      bytes.resize(kPiece);
      const ssize_t count = ::recv(from, bytes.data(), bytes.size(), MSG_DONTWAIT);
      bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      has_ended = count == 0;
      if (count < 0 && errno != EAGAIN) return false;
    }
    if (!bytes.empty()) {
      const ssize_t count = ::send(to, bytes.data(), bytes.size(), kFlags);
      bytes.erase(0, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && errno != EAGAIN) return false;
    }
    if (has_ended && bytes.empty() && !std::exchange(is_closed, true)) ::shutdown(to, SHUT_WR);
    return true;
  }
};

/// Until both have ended, one is lost, or nothing comes for kIdleTimeout.
void Relay(int client, int server, std::string received) {
  constexpr auto kIdle = static_cast<int>(milliseconds(Proxy::kIdleTimeout).count());
  Flow up{client, server, std::move(received)};
  Flow down{server, client};
  while (up.Move() && down.Move() && !(up.is_closed && down.is_closed)) {
    const auto watched = [](const Flow& in, const Flow& out) {
      const int events = (in.reads() ? POLLIN : 0) | (out.bytes.empty() ? 0 : POLLOUT);
      return pollfd{events == 0 ? -1 : in.from, static_cast<short>(events), 0};
    };
    std::array<pollfd, 2> polled = {watched(up, down), watched(down, up)};
    const int ready = ::poll(polled.data(), polled.size(), kIdle);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return;
  }
}

}  // namespace

/// A client from its first byte to its end.
class Proxy::Connection {
 public:
  Connection(const Shared& proxy, int client) : proxy_(proxy), client_(client) {}

  void Run() {
    const auto deadline = Clock::now() + Proxy::kBeginTimeout;
    std::string received;
    Head head = ParseHead(received);
    for (; head.kind == Head::Kind::kIncomplete; head = ParseHead(received)) {
      if (!ReadMore(client_, received, deadline)) return;
    }
    if (const auto refusal = Open(head)) return Refuse(client_, *refusal);
    Send(client_, "HTTP/1.1 200 Connection established\r\n\r\n");
    received.erase(0, head.size);
    if (ReadHello(received)) Relay(client_, server_.get(), std::move(received));
  }

 private:
  Refusal Deny(const std::string& target, const std::string& problem) {
    proxy_.denials->Add(target, problem);
    return {403, "Not allowed: " + problem};
  }

  /// Connects to the server, or returns why not.
  std::optional<Refusal> Open(const Head& head) {
    const std::string shown = support::Printable(head.target.substr(0, kMaxShownTarget));
    if (head.kind == Head::Kind::kPlainHttp) (void)Deny(shown, kOnlyHttps);
    if (head.kind != Head::Kind::kConnect) return Refusal{400, kOnlyHttps};
    const auto site = ParseSite(head.target);
    if (!site) return Deny(shown, "only full names of hosts are reached from here");
    site_ = *site;
    try {
      if (!ReadAllowList(proxy_.instance_directory).sites.contains(site_)) {
        proxy_.denials->Add(site_.Text());
        return Refusal{403, "Not allowed: " + AllowCommand(proxy_.instance, site_.Text())};
      }
    } catch (const support::Error&) {  // `allow` and doctor have its text
      return Deny(site_.Text(), "the list of allowed names cannot be read");
    }
    std::vector<in_addr> addresses = proxy_.resolve(site_.host);
    if (addresses.empty()) return Refusal{502, site_.host + " has no IPv4 address"};
    std::erase_if(addresses, [](in_addr address) { return !IsPublic(address); });
    if (addresses.empty()) return Deny(site_.Text(), site_.host + " has a private address");
    server_ = ConnectToFirst(addresses, site_.port);
    if (!server_.valid()) return Refusal{502, site_.Text() + " does not answer"};
    return std::nullopt;
  }

  /// False unless it has the name of the site.
  bool ReadHello(std::string& received) {
    const auto deadline = Clock::now() + Proxy::kBeginTimeout;
    std::optional<std::string> name = ServerName(received);
    for (; !name && received.size() < kMaxHello; name = ServerName(received)) {
      if (!ReadMore(client_, received, deadline)) break;
    }
    if (name && HostName(*name) == site_.host) return true;
    if (!received.empty()) proxy_.denials->Add(site_.Text(), "no TLS, or with another server name");
    return false;
  }

  const Shared& proxy_;
  const int client_;
  Site site_;
  FileDescriptor server_;
};

Proxy::Proxy(std::filesystem::path instance_directory, std::string instance,
             std::shared_ptr<Denials> denials, Resolve resolve)
    : shared_(new Shared{std::move(instance_directory), std::move(instance), std::move(denials),
                         std::move(resolve)}) {}

void Proxy::Serve(FileDescriptor client) {
  if (shared_->connections >= kMaxConnections) return;
  ++shared_->connections;
  try {
    std::thread([shared = shared_, client = std::move(client)] {
      try {
        Connection(*shared, client.get()).Run();
      } catch (const std::exception& error) {
        support::LogWarning(Format("network: {}", error.what()));
      }
      --shared->connections;
    }).detach();
  } catch (const std::exception& error) {  // no thread
    --shared_->connections;
    support::LogWarning(Format("network: {}", error.what()));
  }
}

std::string ExportVariables(int port) {
  std::string text = "export NODE_USE_ENV_PROXY=1";
  for (const char* name : {"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"})
    text += Format(" {}=http://127.0.0.1:{}", name, port);
  for (const char* name : {"no_proxy", "NO_PROXY"})
    text += Format(" {}=localhost,127.0.0.1,::1", name);
  return text + "\n";
}

}  // namespace network
