// SPDX-License-Identifier: Apache-2.0
#include "ssh/forwarding.h"

#include <fcntl.h>
#include <libssh/server.h>  // messages, which are the client's too
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/log.h"
#include "support/regex.h"

namespace ssh {
namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;

/// RFC 4254, 5.1.
constexpr int kConnectFailed = 2;

/// Why a channel was not opened, of libssh's text "channel 43 error (2) …".
int ReasonOf(std::string_view text) {
  static const support::Regex number(R"(error \((\d+)\))");
  int reason = 0;
  (void)number.PartialMatch(text, &reason);
  return reason;
}

constexpr int kFlags = support::kNoSigpipe | MSG_DONTWAIT;

}  // namespace

/// One connection. Until its channel is open, it stays even if its socket has ended: sshd would
/// keep what it opens. What a side does not take stays in the socket, or in the channel, whose
/// window then closes.
struct Forwarding::Tunnel {
  Tunnel(ssh_event polled, support::FileDescriptor joined)
      : event(polled), socket(std::move(joined)) {}
  ~Tunnel() {
    Watch(0);
    if (end != guest::ForwardEnd::kDone) Reset();
    if (on_end) on_end(end);
  }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// Ends the event's wait when the socket is ready.
  void Watch(int events) {
    if (watched != 0 && watched != events) ssh_event_remove_fd(event, socket.get());
    if (std::exchange(watched, events) == events || events == 0) return;
    constexpr auto kNothing = [](socket_t, int, void*) { return 0; };
    ssh_event_add_fd(event, socket.get(), static_cast<short>(events), kNothing, nullptr);
  }

  /// The peer sees an error, and no end.
  void Reset() const {
    const linger at_once{1, 0};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }

  // Each returns whether it moved something.
  bool MoveToSocket();
  bool MoveToGuest();
  bool Step();

  ssh_event event;
  std::optional<Channel> channel = {};
  support::FileDescriptor socket;
  int port = 0;  ///< of the guest, until it is connected
  bool is_ipv6 = false;
  bool is_second_try = false;
  OnEnd on_end = {};
  guest::ForwardEnd end = guest::ForwardEnd::kLost;
  int watched = 0;
  std::string held = {};     ///< for the socket
  bool guest_ended = false;  ///< and the socket knows
  bool ended = false;        ///< the socket, and the guest knows
  bool closing = false;
};

bool Forwarding::Tunnel::MoveToSocket() {
  if (held.empty()) held = channel->Read(kPiece);
  if (held.empty() && channel->peer_sent_end_of_file() && !std::exchange(guest_ended, true))
    ::shutdown(socket.get(), SHUT_WR);
  if (held.empty()) return false;
  const ssize_t count = ::send(socket.get(), held.data(), held.size(), kFlags);
  if (count > 0) held.erase(0, static_cast<std::size_t>(count));
  closing = count < 0 && errno != EAGAIN;
  return count > 0;
}

bool Forwarding::Tunnel::MoveToGuest() {
  std::string bytes(ended ? 0 : std::min(channel->window(), kPiece), '\0');
  if (bytes.empty()) return false;
  const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count > 0) channel->Write({bytes.data(), static_cast<std::size_t>(count)});
  if (count != 0) return count > 0;
  ended = true;
  channel->SendEndOfFile();
  pollfd other{socket.get(), 0, 0};
  if (::poll(&other, 1, 0) > 0) closing = true;  // POLLHUP: it does not read either
  return false;
}

bool Forwarding::Tunnel::Step() {
  if (closing) return false;
  const bool to_socket = MoveToSocket();
  const bool to_guest = MoveToGuest();
  const bool has_all = held.empty() && !channel->has_data();
  closing = closing || (has_all && (channel->peer_closed() || (ended && guest_ended)));
  Watch(closing ? 0
                : (!ended && channel->window() > 0 ? POLLIN : 0) | (held.empty() ? 0 : POLLOUT));
  if (closing) end = guest::ForwardEnd::kDone;
  if (closing) socket.Close();
  return to_socket || to_guest;
}

Forwarding::Forwarding(ssh_session session, ssh_event event, Accept accept)
    : session_(session), event_(event), accept_(std::move(accept)) {
  ssh_set_message_callback(session_, &OnMessage, this);
}

Forwarding::~Forwarding() = default;

void Forwarding::Connect(support::FileDescriptor socket, int port, OnEnd on_end) {
  Tunnel& tunnel = tunnels_.emplace_back(event_, std::move(socket));
  tunnel.on_end = std::move(on_end);
  tunnel.port = port;
  tunnel.is_ipv6 = prefers_ipv6_;
}

/// One step of connecting.
void Forwarding::Open(Tunnel& tunnel) {
  if (!tunnel.channel) tunnel.channel.emplace(ssh_channel_new(session_));
  const auto progress =
      tunnel.channel->OpenForward(tunnel.is_ipv6 ? "::1" : "127.0.0.1", tunnel.port);
  if (progress == Channel::Progress::kAgain) return;
  if (progress == Channel::Progress::kDone) {
    prefers_ipv6_ = tunnel.is_ipv6;
    tunnel.port = 0;
    return;
  }
  const bool is_there = ReasonOf(ssh_get_error(session_)) != kConnectFailed;
  tunnel.closing = is_there || std::exchange(tunnel.is_second_try, true);
  tunnel.end = is_there ? guest::ForwardEnd::kForbidden : guest::ForwardEnd::kNothingListens;
  if (tunnel.closing) return;
  tunnel.is_ipv6 = !tunnel.is_ipv6;
  tunnel.channel.reset();
  Open(tunnel);
}

int Forwarding::Listen(int port) {
  int bound = 0;
  const int code = ssh_channel_listen_forward(session_, "127.0.0.1", port, &bound);
  if (code == SSH_OK) port_ = bound == 0 ? port : bound;
  return code;
}

bool Forwarding::Step() {
  bool more = false;
  for (Tunnel& tunnel : tunnels_) {
    if (tunnel.port != 0) Open(tunnel);
    if (tunnel.port == 0) more = tunnel.Step() || more;
  }
  tunnels_.remove_if([](Tunnel& tunnel) {
    return tunnel.closing && (tunnel.port != 0 || tunnel.channel->Close());
  });
  return more;
}

void Forwarding::Clear() {
  tunnels_.clear();
}

/// Returns 1 for what libssh is to refuse; without a callback, it would queue that without limit.
/// It frees the message.
int Forwarding::OnMessage(ssh_session, ssh_message message, void* self) {
  auto* const forwarding = static_cast<Forwarding*>(self);
  if (!forwarding->accept_ || ssh_message_type(message) != SSH_REQUEST_CHANNEL_OPEN ||
      ssh_message_subtype(message) != SSH_CHANNEL_FORWARDED_TCPIP ||
      ssh_message_channel_request_open_destination_port(message) != forwarding->port_ ||
      forwarding->tunnels_.size() >= kMaxTunnels) {
    return 1;
  }
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return 1;
  support::FileDescriptor ours(ends[0]);
  support::FileDescriptor theirs(ends[1]);
  for (const int fd : ends) (void)::fcntl(fd, F_SETFD, FD_CLOEXEC);
  const ssh_channel channel = ssh_message_channel_request_open_reply_accept(message);
  if (channel == nullptr) return 1;
  try {  // libssh is written in C
    forwarding->tunnels_.emplace_back(forwarding->event_, std::move(ours)).channel.emplace(channel);
    forwarding->accept_(std::move(theirs));
  } catch (const std::exception& error) {
    support::LogWarning(error.what());
  }
  return 0;
}

}  // namespace ssh
