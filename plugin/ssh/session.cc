#include "ssh/session.h"

#include <fcntl.h>
#include <libssh/server.h>  // ssh_send_keepalive and messages, which are the client's too
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "support/errors.h"
#include "support/log.h"
#include "support/printable.h"

namespace ssh {
namespace {

std::string Name(const Endpoint& endpoint) {
  return endpoint.host + ":" + std::to_string(endpoint.port);
}

struct FreeKey {
  void operator()(ssh_key key) const noexcept { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

int NotePassphrase(const char*, char*, size_t, int, int, void* wanted) {
  *static_cast<bool*>(wanted) = true;
  return -1;
}

/// Reads a private key file. Returns null and sets `problem` if it cannot be used, also because it
/// has a passphrase. `problem` never contains key material.
Key LoadKey(const std::string& file, std::string& problem) {
  bool passphrase_wanted = false;
  ssh_key key = nullptr;
  std::error_code error;
  // libssh does not report why it cannot open a file, and would wait for a FIFO.
  if (::access(file.c_str(), R_OK) != 0) {
    problem = std::string("cannot read the key file: ") + std::strerror(errno);
  } else if (!std::filesystem::is_regular_file(file, error)) {
    problem = "the key file is not a regular file";
  } else if (ssh_pki_import_privkey_file(file.c_str(), nullptr, &NotePassphrase, &passphrase_wanted,
                                         &key) != SSH_OK) {
    problem = passphrase_wanted ? "the key file is protected by a passphrase"
                                : "the file has no private key that libssh can read";
  }
  return Key(key);
}

}  // namespace

std::string CipherList(const std::string& configured) {
  if (!configured.starts_with('^')) return configured;
  std::string list = configured.substr(1);
  // The defaults of libssh 0.10 to 0.12, fastest first on CPUs with AES instructions.
  for (const char* cipher :
       {"aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com",
        "aes256-ctr", "aes192-ctr", "aes128-ctr"}) {
    if (("," + list + ",").find("," + std::string(cipher) + ",") == std::string::npos) {
      list += "," + std::string(cipher);
    }
  }
  return list;
}

Session::Session(support::WakePipe& wake)
    : wake_(wake), session_(ssh_new()), event_(ssh_event_new()) {
  if (!session_ || !event_) throw std::runtime_error("libssh cannot create a session");
  ssh_set_counters(session_.get(), &socket_bytes_, &received_);
  // Without a callback, libssh queues the guest's requests without limit. After 1 it rejects them.
  ssh_set_message_callback(
      session_.get(), [](ssh_session, ssh_message, void*) { return 1; }, nullptr);
  if (ssh_event_add_fd(event_.get(), wake_.fd(), POLLIN, &Session::OnWake, this) != SSH_OK) {
    throw std::runtime_error("libssh cannot poll the wake pipe");
  }
}

Session::~Session() {
  // ssh_event_free does not free it.
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
  const auto set = [session](ssh_options_e option, const void* value, const std::string& shown) {
    if (ssh_options_set(session, option, value) == SSH_OK) return;
    throw support::CallError("libssh does not accept " + shown + " in the instance's ssh.config");
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
    support::LogWarning("libssh has no cipher of ssh.config (" + endpoint.ciphers +
                        "); using its defaults");
  }
}

void Session::KeepNonBlocking() {
  // libssh makes the socket blocking once it is connected, and send() to a frozen guest would hang.
  const int fd = ssh_get_fd(session_.get());
  if (fd < 0) return;
  const std::scoped_lock lock(break_mutex_);
  if (!break_fd_.valid()) break_fd_ = support::FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  const int flags = ::fcntl(fd, F_GETFL);
  if (!break_fd_.valid() || flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    throw support::ConnectionLost(std::string("cannot set up the socket: ") + std::strerror(errno),
                                  false);
  }
}

void Session::Connect(const Endpoint& endpoint, support::Clock::duration timeout,
                      const std::function<bool()>& stopped) {
  SetOptions(endpoint);
  ssh_set_blocking(session_.get(), 0);
  const TimePoint deadline = support::Clock::now() + timeout;
  const auto poll = [&] {
    if (stopped()) throw support::ConnectionLost("the connection was closed", false);
    if (support::Clock::now() >= deadline) {
      throw support::ConnectionLost(
          "the guest's sshd at " + Name(endpoint) +
              " did not complete the connection in time: the virtual machine hangs or is still "
              "starting. Try again, or restart it: `limactl stop -f`, `limactl start`",
          false);
    }
    Poll(deadline);
  };
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
    // Only after the first ssh_connect does libssh have a socket to poll.
    if (!in_event && ssh_event_add_session(event_.get(), session_.get()) != SSH_OK) {
      throw std::runtime_error("libssh cannot poll the session");
    }
    in_event = true;
    if (code == SSH_OK) break;
    poll();
  }
  Authenticate(endpoint, poll);
  KeepNonBlocking();
}

void Session::Authenticate(const Endpoint& endpoint, const std::function<void()>& poll) {
  std::string tried;
  for (const std::string& file : endpoint.identity_files) {
    std::string problem;
    const Key key = LoadKey(file, problem);
    if (!key) {
      tried += "; " + file + ": " + problem;
      continue;
    }
    int code = SSH_AUTH_AGAIN;
    while ((code = ssh_userauth_publickey(session_.get(), nullptr, key.get())) == SSH_AUTH_AGAIN) {
      // libssh returns "again" for a dead session too.
      if (!alive()) break;
      poll();
    }
    if (code == SSH_AUTH_SUCCESS) return;
    if (!alive()) {
      throw support::ConnectionLost("the guest's sshd at " + Name(endpoint) +
                                        " closed the connection while the key " + file +
                                        " was offered: " + ErrorText(),
                                    false);
    }
    tried += "; " + file + ": " +
             (code == SSH_AUTH_PARTIAL  ? "accepted, but sshd requires more than a key"
              : code == SSH_AUTH_DENIED ? "rejected"
                                        : "cannot be offered: " + ErrorText());
  }
  throw support::CallError("the guest's sshd at " + Name(endpoint) +
                           " rejected every key in ssh.config for user " + endpoint.user + tried);
}

void Session::Poll(TimePoint until) {
  using std::chrono::milliseconds;
  constexpr milliseconds kMaxWait = std::chrono::hours(1);
  const auto now = support::Clock::now();
  // After a wake-up that libssh consumed in a poll of its own, the posted work is still waiting.
  const bool is_due = woken_ || until <= now;
  const auto wait =
      is_due ? milliseconds(0) : std::min(kMaxWait, std::chrono::ceil<milliseconds>(until - now));
  const int result = ssh_event_dopoll(event_.get(), static_cast<int>(wait.count()));
  if (result == SSH_ERROR) poll_failed_ = true;
  woken_ = false;
}

bool Session::alive() const {
  return !poll_failed_ && ssh_is_connected(session_.get()) != 0 &&
         (ssh_get_status(session_.get()) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

std::string Session::ErrorText() const {
  const std::string text = support::Printable(ssh_get_error(session_.get()));
  return text.empty() ? "the connection was closed" : text;
}

void Session::SendKeepAlive() {
  // libssh sends a packet only on every second call.
  for (int i = 0; i < 2; ++i) {
    if (ssh_send_keepalive(session_.get()) == SSH_ERROR) poll_failed_ = true;
  }
}

void Session::Break() {
  const std::scoped_lock lock(break_mutex_);
  if (break_fd_.valid()) ::shutdown(break_fd_.get(), SHUT_RDWR);
}

}  // namespace ssh
