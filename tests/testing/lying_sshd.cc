// SPDX-License-Identifier: Apache-2.0
#include "testing/lying_sshd.h"

#include <fcntl.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <csignal>
#include <utility>

#include "testing/child_process.h"
#include "testing/sockets.h"

namespace testing_support {
namespace {

using support::FileDescriptor;

struct FreeSession {
  void operator()(ssh_session session) const noexcept {
    ssh_disconnect(session);
    ssh_free(session);  // and its channels
  }
};
struct FreeBind {
  void operator()(ssh_bind bind) const noexcept { ssh_bind_free(bind); }
};

void Require(int code, const char* what) {
  if (code != SSH_OK) throw std::runtime_error(std::string("libssh's server cannot ") + what);
}

void RequireLine(int code, const char* what) {
  if (code != SSH_OK) throw LyingSshd::Over(std::string("cannot ") + what);
}

}  // namespace

LyingSshd::LyingSshd(Lie lie)
    : LyingSshd([this, lie = std::move(lie)](int socket) { SpeakSsh(socket, lie); }) {}

LyingSshd::LyingSshd(BareLie lie) : lie_(std::move(lie)), listener_(ListenOnLoopback(port_)) {
  static_cast<void>(::signal(SIGPIPE, SIG_IGN));
  const ProcessResult made = RunProcess(
      {.arguments = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", identity_file()}});
  if (made.exit_code != 0) throw std::runtime_error("ssh-keygen makes no key: " + made.error);
  thread_ = std::thread([this] { Loop(); });
}

LyingSshd::~LyingSshd() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    if (connection_.valid()) ::shutdown(connection_.get(), SHUT_RDWR);
  }
  wake_.Wake();
  thread_.join();
}

void LyingSshd::Loop() {
  std::array<pollfd, 2> polled = {{{wake_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
  while (true) {
    ::poll(polled.data(), polled.size(), -1);
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return;
      connection_ = FileDescriptor(::accept(listener_.get(), nullptr, nullptr));
      if (!connection_.valid()) continue;
    }
    const int yes = 1;
    ::setsockopt(connection_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    lie_(connection_.get());
    const std::scoped_lock lock(mutex_);
    connection_.Close();
  }
}

void LyingSshd::SpeakSsh(int socket, const Lie& lie) const {
  const std::unique_ptr<ssh_session_struct, FreeSession> session(ssh_new());
  const std::unique_ptr<ssh_bind_struct, FreeBind> bind(ssh_bind_new());
  const bool no = false;
  Require(ssh_bind_options_set(bind.get(), SSH_BIND_OPTIONS_PROCESS_CONFIG, &no), "be configured");
  Require(ssh_bind_options_set(bind.get(), SSH_BIND_OPTIONS_HOSTKEY, identity_file().c_str()),
          "take a key");
  // libssh closes the descriptor that it is given.
  Require(ssh_bind_accept_fd(bind.get(), session.get(), ::fcntl(socket, F_DUPFD_CLOEXEC, 0)),
          "take a connection");
  Line line(session.get());
  try {
    RequireLine(ssh_handle_key_exchange(session.get()), "exchange keys");
    line.LogIn();
    try {
      lie(line);
    } catch (const Over&) {
      // Usually only the channel has ended.
    }
    line.DenyAll();
  } catch (const Over&) {
    // The client has gone, or the destructor runs.
  }
}

void LyingSshd::Line::LogIn() {
  while (true) {
    const Message message = Next();
    switch (ssh_message_type(message.get())) {
      case SSH_REQUEST_SERVICE:
        RequireLine(ssh_message_service_reply_success(message.get()), "serve");
        break;
      case SSH_REQUEST_AUTH:
        RequireLine(ssh_message_auth_reply_success(message.get(), 0), "let the client in");
        return;
      default:
        ssh_message_reply_default(message.get());
    }
  }
}

void LyingSshd::Line::DenyAll() {
  while (true) ssh_message_reply_default(Next().get());
}

LyingSshd::Line::Message LyingSshd::Line::Next() {
  // Without a connection libssh would wait for ever.
  Message message(ssh_is_connected(session_) != 0 ? ssh_message_get(session_) : nullptr);
  if (!message) throw Over("the client has gone");
  return message;
}

LyingSshd::Channel LyingSshd::Line::Accept() {
  while (true) {
    Message message = Next();
    const int type = ssh_message_type(message.get());
    if (type == SSH_REQUEST_CHANNEL_OPEN) {
      if (ssh_message_channel_request_open_reply_accept(message.get()) == nullptr) {
        throw Over("cannot accept a channel");
      }
    } else if (type == SSH_REQUEST_CHANNEL) {
      return Channel(std::move(message));
    } else {
      ssh_message_reply_default(message.get());
    }
  }
}

bool LyingSshd::Line::IsDeniedChannel() {
  ssh_channel channel = ssh_channel_new(session_);
  return ssh_channel_open_x11(channel, "127.0.0.1", 6010) == SSH_ERROR &&
         ssh_get_error_code(session_) == SSH_REQUEST_DENIED;
}

void LyingSshd::Line::Chatter() {
  RequireLine(ssh_send_ignore(session_, "chatter"), "send a message");
  // libssh still accepts messages for a client that has gone.
  if (ssh_is_connected(session_) == 0) throw Over("the client has gone");
}

void LyingSshd::Line::Disconnect(const std::string& words) {
  Require(ssh_session_set_disconnect_message(session_, words.c_str()), "take last words");
  ssh_disconnect(session_);
}

void LyingSshd::Channel::FreeMessage::operator()(ssh_message_struct* message) const noexcept {
  ssh_message_free(message);
}

LyingSshd::Channel::Channel(Message request)
    : request_(std::move(request)), channel_(ssh_message_channel_request_channel(request_.get())) {}

void LyingSshd::Channel::Grant() {
  RequireLine(ssh_message_channel_request_reply_success(request_.get()), "grant a request");
}

void LyingSshd::Channel::Refuse() {
  RequireLine(ssh_message_reply_default(request_.get()), "refuse a request");
}

void LyingSshd::Channel::Write(std::string_view bytes) {
  WriteTo(false, bytes);
}

void LyingSshd::Channel::WriteError(std::string_view bytes) {
  WriteTo(true, bytes);
}

void LyingSshd::Channel::WriteTo(bool is_standard_error, std::string_view bytes) {
  const auto write = is_standard_error ? &ssh_channel_write_stderr : &ssh_channel_write;
  while (!bytes.empty()) {
    const int written = write(channel_, bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    if (written <= 0) throw Over("the client takes no more");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string LyingSshd::Channel::Read(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const int got =
        ssh_channel_read(channel_, bytes.data() + at, static_cast<std::uint32_t>(size - at), 0);
    if (got <= 0) throw Over("the client sends no more");
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

void LyingSshd::Channel::SendExitStatus(int status) {
  RequireLine(ssh_channel_request_send_exit_status(channel_, status), "send an exit status");
}

void LyingSshd::Channel::SendExitSignal(const std::string& name) {
  RequireLine(ssh_channel_request_send_exit_signal(channel_, name.c_str(), 0, "", ""),
              "send an exit signal");
}

void LyingSshd::Channel::SendEndOfFile() {
  RequireLine(ssh_channel_send_eof(channel_), "end the output");
}

void LyingSshd::Channel::Close() {
  RequireLine(ssh_channel_close(channel_), "close a channel");
}

bool LyingSshd::Channel::IsDeniedRequest() {
  return ssh_channel_request_shell(channel_) == SSH_ERROR &&
         ssh_get_error_code(ssh_channel_get_session(channel_)) == SSH_REQUEST_DENIED;
}

}  // namespace testing_support
