#include "ssh/session.h"

#include <fcntl.h>
#include <libssh/server.h>  // ssh_send_keepalive and messages, which are the client's too
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "ssh/ciphers.h"
#include "ssh/identity.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/printable.h"

namespace ssh {
namespace {

std::string Name(const Endpoint& endpoint) {
  return endpoint.host + ":" + std::to_string(endpoint.port);
}

/// Bytes of a short message on the line, with all that encryption adds: rather too many.
constexpr std::uint64_t kShortMessage = 64;

/// Denies what the guest asks of us: 1 has libssh say so and forget it.
int DenyRequest(ssh_session, ssh_message, void*) {
  return 1;
}

}  // namespace

Session::Session(support::WakePipe& wake)
    : wake_(wake), session_(ssh_new()), event_(ssh_event_new()) {
  if (!session_ || !event_) throw std::runtime_error("libssh gave no session");
  ssh_set_counters(session_.get(), &sent_, &received_);
  // Without it libssh keeps each channel that the guest wants to open, and each request, for a
  // reader that never comes.
  ssh_set_message_callback(session_.get(), &DenyRequest, nullptr);
  if (ssh_event_add_fd(event_.get(), wake_.fd(), POLLIN, &Session::OnWake, this) != SSH_OK) {
    throw std::runtime_error("libssh took no event");
  }
}

Session::~Session() {
  // ssh_event_free would leave behind what libssh allocated for it.
  ssh_event_remove_fd(event_.get(), wake_.fd());
}

int Session::OnWake(socket_t, int, void* self) {
  auto* session = static_cast<Session*>(self);
  session->wake_.Drain();
  session->woken_ = true;
  return 0;
}

void Session::SetOptions(const Endpoint& endpoint) {
  ssh_session session = session_.get();
  const bool no = false;
  const int yes = 1;
  const auto port = static_cast<unsigned int>(endpoint.port);
  // libssh has no words of its own for a value that it refuses.
  const auto set = [session](ssh_options_e option, const void* value, const std::string& shown) {
    if (ssh_options_set(session, option, value) == SSH_OK) return;
    throw support::CallError("libssh takes no " + shown + "");
  };
  set(SSH_OPTIONS_PROCESS_CONFIG, &no, "ProcessConfig no");
  set(SSH_OPTIONS_HOST, endpoint.host.c_str(), "HostName " + support::Printable(endpoint.host));
  set(SSH_OPTIONS_PORT, &port, "Port " + std::to_string(port));
  set(SSH_OPTIONS_USER, endpoint.user.c_str(), "User " + support::Printable(endpoint.user));
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null", "UserKnownHostsFile /dev/null");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", "GlobalKnownHostsFile /dev/null");
  set(SSH_OPTIONS_NODELAY, &yes, "NoDelay yes");
  const std::string ciphers = CipherList(endpoint.ciphers);
  if (ciphers.empty()) return;
  if (ssh_options_set(session, SSH_OPTIONS_CIPHERS_C_S, ciphers.c_str()) != SSH_OK ||
      ssh_options_set(session, SSH_OPTIONS_CIPHERS_S_C, ciphers.c_str()) != SSH_OK) {
    support::LogWarning("ssh.config names no cipher that libssh has (" + endpoint.ciphers +
                        "): its own choice is used");
  }
}

void Session::KeepNonBlocking() {
  // libssh makes the socket blocking once it is connected: send() to a frozen guest would then
  // hang. Set again after every step of the connection.
  const int fd = ssh_get_fd(session_.get());
  if (fd < 0) return;
  const int flags = ::fcntl(fd, F_GETFL);
  bool done = flags >= 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
              ::fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
  if (done) {
    const std::scoped_lock lock(break_mutex_);
    if (!break_fd_.valid()) break_fd_ = support::FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    done = break_fd_.valid();
  }
  if (!done) {
    throw support::ConnectionLost(std::string("cannot set up the socket: ") + std::strerror(errno),
                                  false);
  }
}

void Session::Connect(const Endpoint& endpoint, support::Clock::duration timeout,
                      const std::function<bool()>& stopped) {
  if (endpoint.host.empty() || endpoint.port == 0 || endpoint.user.empty() ||
      endpoint.identity_files.empty()) {
    throw support::CallError(
        "the instance's ssh.config must name HostName, Port, User and IdentityFile; restart the "
        "instance with `limactl stop` and `limactl start`");
  }
  SetOptions(endpoint);
  ssh_set_blocking(session_.get(), 0);
  const support::Clock::time_point deadline = support::Clock::now() + timeout;
  bool in_event = false;
  while (true) {
    const int code = ssh_connect(session_.get());
    if (code == SSH_ERROR) {
      throw support::ConnectionLost("cannot connect to the guest's sshd at " + Name(endpoint) +
                                        ": " + ErrorText() +
                                        ". Is the instance running? `limactl list` shows it, "
                                        "`limactl start` starts it",
                                    false);
    }
    KeepNonBlocking();
    // libssh makes what it polls only during the first call.
    if (!in_event && ssh_event_add_session(event_.get(), session_.get()) != SSH_OK) {
      throw std::runtime_error("libssh took no session into its event");
    }
    in_event = true;
    if (code == SSH_OK) break;
    PollOrGiveUp(endpoint, deadline, stopped);
  }
  Authenticate(endpoint, deadline, stopped);
  KeepNonBlocking();
}

void Session::PollOrGiveUp(const Endpoint& endpoint, support::Clock::time_point deadline,
                           const std::function<bool()>& stopped) {
  if (stopped()) throw support::ConnectionLost("the connection was closed", false);
  if (support::Clock::now() >= deadline) {
    throw support::ConnectionLost(
        "the guest's sshd at " + Name(endpoint) +
            " did not finish the connection in time: the virtual machine hangs, or is starting "
            "still. Try again; if that does not help: `limactl stop -f` and `limactl start`",
        false);
  }
  Poll(deadline);
}

void Session::Authenticate(const Endpoint& endpoint, support::Clock::time_point deadline,
                           const std::function<bool()>& stopped) {
  std::string tried;
  for (const std::string& file : endpoint.identity_files) {
    Identity identity = LoadIdentity(file);
    if (!identity.key) {
      tried += "; " + file + ": " + identity.problem;
      continue;
    }
    int code = SSH_AUTH_AGAIN;
    while ((code = ssh_userauth_publickey(session_.get(), nullptr, identity.key.get())) ==
           SSH_AUTH_AGAIN) {
      // libssh says "again" of a session that has died, too, and nothing would end the poll then.
      if (!alive()) break;
      PollOrGiveUp(endpoint, deadline, stopped);
    }
    if (code == SSH_AUTH_SUCCESS) return;
    if (!alive()) {
      throw support::ConnectionLost("the guest's sshd at " + Name(endpoint) +
                                        " ended the connection while the key " + file +
                                        " was offered: " + ErrorText(),
                                    false);
    }
    tried += "; " + file + ": " +
             (code == SSH_AUTH_PARTIAL  ? "accepted, but sshd wants more than a key"
              : code == SSH_AUTH_DENIED ? "not accepted"
                                        : "it could not be offered: " + ErrorText());
  }
  throw support::CallError("the guest's sshd at " + Name(endpoint) + " lets the user " +
                           endpoint.user + " in with none of the keys in ssh.config" + tried);
}

void Session::Poll(support::Clock::time_point until) {
  if (woken_) {
    // Seen while libssh polled by itself; what was posted has not been looked at yet.
    woken_ = false;
    until = support::Clock::time_point::min();
  }
  int timeout = -1;
  if (until != support::Clock::time_point::max()) {
    constexpr auto kLongest = std::chrono::milliseconds(3'600'000);
    const auto now = support::Clock::now();
    const auto left =
        until <= now
            ? std::chrono::milliseconds(0)
            : std::min(kLongest, std::chrono::ceil<std::chrono::milliseconds>(until - now));
    timeout = static_cast<int>(left.count());
  }
  if (ssh_event_dopoll(event_.get(), timeout) == SSH_ERROR) poll_failed_ = true;
  woken_ = false;
  if (!output_waits()) {
    bytes_when_empty_ = sent_.out_bytes;
    messages_when_empty_ = received_.out_packets;
  }
}

bool Session::alive() const {
  return !poll_failed_ && ssh_is_connected(session_.get()) != 0 &&
         (ssh_get_status(session_.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

std::string Session::ErrorText() const {
  const std::string text = support::Printable(ssh_get_error(session_.get()));
  return text.empty() ? "the connection ended" : text;
}

void Session::SendKeepAlive() {
  // A call that finds the last answer only takes note of it: the second one then sends.
  for (int i = 0; i < 2; ++i) {
    if (ssh_send_keepalive(session_.get()) == SSH_ERROR) poll_failed_ = true;
  }
}

bool Session::output_waits() const {
  return (ssh_get_status(session_.get()) & SSH_WRITE_PENDING) != 0;
}

std::uint64_t Session::messages_unsent() const {
  if (!output_waits()) return 0;
  const std::uint64_t messages = received_.out_packets - messages_when_empty_;
  // libssh does not say which have gone. Long ones count for several, so that a large upload hides
  // what waits behind it, and never looks like it.
  const std::uint64_t gone = (sent_.out_bytes - bytes_when_empty_) / kShortMessage;
  return messages > gone ? messages - gone : 0;
}

void Session::Break() {
  const std::scoped_lock lock(break_mutex_);
  if (break_fd_.valid()) ::shutdown(break_fd_.get(), SHUT_RDWR);
}

}  // namespace ssh
