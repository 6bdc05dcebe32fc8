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

#ifdef MSG_NOSIGNAL
constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
#else
constexpr int kFlags = MSG_DONTWAIT;
#endif

bool IsLost(ssize_t count) {
  return count < 0 && errno != EAGAIN && errno != EWOULDBLOCK;
}

}  // namespace

/// One connection. What neither side takes stays in the channel, whose window then closes, or in
/// the socket.
struct Forwarding::Tunnel {
  Tunnel(ssh_event polled, ssh_channel opened) : event(polled), channel(opened) {}
  ~Tunnel() { Watch(kNothing); }
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  static constexpr int kNothing = -1;

  void Watch(int events) {
    if (events == watched) return;
    if (watched != kNothing) ssh_event_remove_fd(event, socket.get());
    watched = events;
    if (events != kNothing)
      ssh_event_add_fd(event, socket.get(), static_cast<short>(events), &OnEvent, this);
  }
  static int OnEvent(socket_t, int events, void* self) {
    if ((events & (POLLHUP | POLLERR)) != 0) static_cast<Tunnel*>(self)->hung_up = true;
    return 0;
  }

  /// Both return whether something was moved.
  bool MoveToSocket();
  bool MoveToGuest();
  bool Step();

  ssh_event event;
  Channel channel;
  support::FileDescriptor socket;
  int watched = kNothing;
  std::string held;  ///< for the socket
  bool guest_ended = false;
  bool ended = false;    ///< the socket
  bool hung_up = false;  ///< nobody reads from the socket
  bool closing = false;
};

bool Forwarding::Tunnel::MoveToSocket() {
  if (held.empty()) held = channel.Read(kPiece);
  if (held.empty()) {
    if (channel.peer_sent_end_of_file() && !std::exchange(guest_ended, true))
      ::shutdown(socket.get(), SHUT_WR);
    return false;
  }
  const ssize_t count = ::send(socket.get(), held.data(), held.size(), kFlags);
  if (IsLost(count)) hung_up = ended = true;
  if (count > 0) held.erase(0, static_cast<std::size_t>(count));
  return count > 0;
}

bool Forwarding::Tunnel::MoveToGuest() {
  const std::size_t room = std::min(channel.window(), kPiece);
  if (ended || room == 0) return false;
  std::string bytes(room, '\0');
  const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count > 0) channel.Write({bytes.data(), static_cast<std::size_t>(count)});
  ended = count == 0 || IsLost(count);
  if (ended) channel.SendEndOfFile();
  return count > 0;
}

bool Forwarding::Tunnel::Step() {
  if (closing) return false;
  const bool moved = MoveToSocket();
  const bool more = MoveToGuest() || moved;
  if ((hung_up && ended) || (channel.peer_closed() && held.empty())) {
    Watch(kNothing);
    socket.Close();
    closing = true;
  } else {
    const bool reads = !ended && channel.window() > 0;
    Watch(hung_up ? kNothing : (reads ? POLLIN : 0) | (held.empty() ? 0 : POLLOUT));
  }
  return more;
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
    forwarding->tunnels_.emplace_back(forwarding->event_, channel).socket = std::move(ours);
    forwarding->accept_(std::move(theirs));
  } catch (const std::exception& error) {
    support::LogWarning(error.what());
  }
  return 0;
}

}  // namespace ssh
