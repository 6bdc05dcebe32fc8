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
#include <string>
#include <system_error>
#include <utility>

#include "support/log.h"

namespace ssh {
namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;

constexpr int kFlags = support::kNoSigpipe | MSG_DONTWAIT;

}  // namespace

/// One connection. What a side does not take stays in the socket, or in the channel, whose window
/// then closes.
struct Forwarding::Tunnel {
  Tunnel(ssh_event polled, ssh_channel opened, support::FileDescriptor end)
      : event(polled), channel(opened), socket(std::move(end)) {}
  ~Tunnel() { Watch(0); }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  /// Ends the event's wait when the socket is ready.
  void Watch(int events) {
    if (watched != 0 && watched != events) ssh_event_remove_fd(event, socket.get());
    if (std::exchange(watched, events) == events || events == 0) return;
    constexpr auto kNothing = [](socket_t, int, void*) { return 0; };
    ssh_event_add_fd(event, socket.get(), static_cast<short>(events), kNothing, nullptr);
  }

  // Each returns whether it moved something.
  bool MoveToSocket();
  bool MoveToGuest();
  bool Step();

  ssh_event event;
  Channel channel;
  support::FileDescriptor socket;
  int watched = 0;
  std::string held = {};     ///< for the socket
  bool guest_ended = false;  ///< and the socket knows
  bool ended = false;        ///< the socket, and the guest knows
  bool closing = false;
};

bool Forwarding::Tunnel::MoveToSocket() {
  if (held.empty()) held = channel.Read(kPiece);
  if (held.empty() && channel.peer_sent_end_of_file() && !std::exchange(guest_ended, true))
    ::shutdown(socket.get(), SHUT_WR);
  if (held.empty()) return false;
  const ssize_t count = ::send(socket.get(), held.data(), held.size(), kFlags);
  if (count > 0) held.erase(0, static_cast<std::size_t>(count));
  closing = count < 0 && errno != EAGAIN;
  return count > 0;
}

bool Forwarding::Tunnel::MoveToGuest() {
  std::string bytes(ended ? 0 : std::min(channel.window(), kPiece), '\0');
  if (bytes.empty()) return false;
  const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count > 0) channel.Write({bytes.data(), static_cast<std::size_t>(count)});
  if (count != 0) return count > 0;
  ended = true;
  channel.SendEndOfFile();
  pollfd other{socket.get(), 0, 0};
  if (::poll(&other, 1, 0) > 0) closing = true;  // POLLHUP: it does not read either
  return false;
}

bool Forwarding::Tunnel::Step() {
  if (closing) return false;
  const bool to_socket = MoveToSocket();
  const bool to_guest = MoveToGuest();
  closing = closing || (held.empty() && (channel.peer_closed() || (ended && guest_ended)));
  Watch(closing ? 0 : (!ended && channel.window() > 0 ? POLLIN : 0) | (held.empty() ? 0 : POLLOUT));
  if (closing) socket.Close();
  return to_socket || to_guest;
}

Forwarding::Forwarding(ssh_session session, ssh_event event, Accept accept)
    : session_(session), event_(event), accept_(std::move(accept)) {
  ssh_set_message_callback(session_, &OnMessage, this);
}

Forwarding::~Forwarding() = default;

int Forwarding::Listen(int port) {
  int bound = 0;
  const int code = ssh_channel_listen_forward(session_, "127.0.0.1", port, &bound);
  if (code == SSH_OK) port_ = bound == 0 ? port : bound;
  return code;
}

bool Forwarding::Step() {
  bool more = false;
  for (Tunnel& tunnel : tunnels_) more = tunnel.Step() || more;
  tunnels_.remove_if([](Tunnel& tunnel) { return tunnel.closing && tunnel.channel.Close(); });
  return more;
}

void Forwarding::Clear() {
  tunnels_.clear();
}

/// Returns 1 for what libssh is to refuse. It frees the message.
int Forwarding::OnMessage(ssh_session, ssh_message message, void* self) {
  auto* const forwarding = static_cast<Forwarding*>(self);
  if (ssh_message_type(message) != SSH_REQUEST_CHANNEL_OPEN ||
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
    forwarding->tunnels_.emplace_back(forwarding->event_, channel, std::move(ours));
    forwarding->accept_(std::move(theirs));
  } catch (const std::exception& error) {
    support::LogWarning(error.what());
  }
  return 0;
}

}  // namespace ssh
