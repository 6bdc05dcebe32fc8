// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "lima/sandbox.h"
#include "ssh/host_key.h"
#include "ssh/session_guest.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/regex.h"

// How SessionGuest connects and logs in.
namespace ssh {
namespace {

using support::Format;

std::string Name(const Endpoint& endpoint) {
  return Format("{}:{}", endpoint.host, endpoint.port);
}

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
    problem = Format("cannot read the key file: {}", std::strerror(errno));
  } else if (!std::filesystem::is_regular_file(file, error)) {
    problem = "the key file is not a regular file";
  } else if (ssh_pki_import_privkey_file(file.c_str(), nullptr, &NotePassphrase, &passphrase_wanted,
                                         &key) != SSH_OK) {
    problem = passphrase_wanted ? "the key file is protected by a passphrase"
                                : "the file has no private key that libssh can read";
  }
  return Key(key);
}

/// Throws support::Error if `error` is that sshd and libssh have no algorithm in common.
void CheckAgreement(const std::string& error, const Endpoint& endpoint) {
  static const support::Regex none(R"(no match for method (\w+)[^:]*: server .*client \[(.*)\])");
  std::string method;
  std::string known;
  if (!none.PartialMatch(error, &method, &known)) return;
  const std::string setting = method == "kex"          ? "KexAlgorithms"
                              : method == "server"     ? "HostKeyAlgorithms"
                              : method == "encryption" ? "Ciphers"
                              : method == "mac"        ? "MACs"
                                                       : "Compression";
  throw support::Error(
      "the guest's sshd at {} allows none of the {} that libssh {} offers: add one of them to {} "
      "in the "
      "guest's sshd_config: {}",
      Name(endpoint), setting, LibraryVersion(), setting, support::Printable(known));
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

void SessionGuest::SetOptions(const std::string& host_key_algorithms) {
  ssh_session session = session_.get();
  const bool no = false;
  const int yes = 1;
  const auto port = static_cast<unsigned int>(endpoint_.port);
  const auto set = [session](ssh_options_e option, const void* value, const std::string& shown) {
    if (ssh_options_set(session, option, value) == SSH_OK) return;
    throw support::Error("libssh does not accept {} in the instance's ssh.config", shown);
  };
  set(SSH_OPTIONS_PROCESS_CONFIG, &no, "ProcessConfig no");
  set(SSH_OPTIONS_HOST, endpoint_.host.c_str(), "HostName " + support::Printable(endpoint_.host));
  set(SSH_OPTIONS_PORT, &port, Format("Port {}", port));
  set(SSH_OPTIONS_USER, endpoint_.user.c_str(), "User " + support::Printable(endpoint_.user));
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null", "UserKnownHostsFile /dev/null");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null", "GlobalKnownHostsFile /dev/null");
  set(SSH_OPTIONS_NODELAY, &yes, "NoDelay yes");
  if (!host_key_algorithms.empty()) {
    set(SSH_OPTIONS_HOSTKEYS, host_key_algorithms.c_str(),
        "the types of the recorded host keys, " + host_key_algorithms + ",");
  }
  const std::string ciphers = CipherList(endpoint_.ciphers);
  if (ciphers.empty()) return;
  if (ssh_options_set(session, SSH_OPTIONS_CIPHERS_C_S, ciphers.c_str()) != SSH_OK ||
      ssh_options_set(session, SSH_OPTIONS_CIPHERS_S_C, ciphers.c_str()) != SSH_OK) {
    support::LogWarning(
        Format("libssh has no cipher of ssh.config ({}); using its defaults", endpoint_.ciphers));
  }
}

void SessionGuest::KeepNonBlocking() {
  // libssh makes the socket blocking once it is connected, and send() to a frozen guest would hang.
  const int fd = ssh_get_fd(session_.get());
  if (fd < 0) return;
  const std::scoped_lock lock(socket_mutex_);
  if (!socket_copy_.valid()) {
    socket_copy_ = support::FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  const int flags = ::fcntl(fd, F_GETFL);
  if (!socket_copy_.valid() || flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      ::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    throw support::ConnectionLost(Format("cannot set up the socket: {}", std::strerror(errno)),
                                  false);
  }
}

void SessionGuest::OpenSession() {
  const RecordedHostKeys recorded(endpoint_);
  SetOptions(recorded.Algorithms());
  ssh_set_blocking(session_.get(), 0);
  const TimePoint deadline = support::Clock::now() + options_.connect_timeout;
  bool in_event = false;
  while (true) {
    const int code = ssh_connect(session_.get());
    if (code == SSH_ERROR) {
      recorded.CheckFailure(ErrorText());
      CheckAgreement(ErrorText(), endpoint_);
      throw support::ConnectionLost(Format("cannot connect to the guest's sshd at {}: {}. "
                                           "Is the instance running? `limactl list` shows it, "
                                           "`limactl start {}` starts it",
                                           Name(endpoint_), ErrorText(), endpoint_.instance),
                                    false);
    }
    KeepNonBlocking();
    // Only after the first ssh_connect does libssh have a socket to poll.
    if (!in_event && ssh_event_add_session(event_.get(), session_.get()) != SSH_OK) {
      throw std::runtime_error("libssh cannot poll the session");
    }
    in_event = true;
    if (code == SSH_OK) break;
    PollUntilConnected(deadline);
  }
  recorded.Check(session_.get());
  Authenticate(deadline);
  if (options_.accept) Listen(deadline);
  KeepNonBlocking();
}

void SessionGuest::Authenticate(TimePoint deadline) {
  std::string tried;
  bool offered = false;
  for (const std::string& file : endpoint_.identity_files) {
    std::string problem;
    const Key key = LoadKey(file, problem);
    if (!key) {
      tried += Format("; {}: {}", file, problem);
      continue;
    }
    offered = true;
    int code = SSH_AUTH_AGAIN;
    while ((code = ssh_userauth_publickey(session_.get(), nullptr, key.get())) == SSH_AUTH_AGAIN) {
      // libssh returns "again" for a dead session too.
      if (!session_alive()) break;
      PollUntilConnected(deadline);
    }
    if (code == SSH_AUTH_SUCCESS) return;
    if (!session_alive()) {
      throw support::ConnectionLost(Format("the guest's sshd at {} closed the connection "
                                           "while the key {} was offered: {}",
                                           Name(endpoint_), file, ErrorText()),
                                    false);
    }
    tried += Format("; {}: {}", file,
                    code == SSH_AUTH_PARTIAL  ? "accepted, but sshd requires more than a key"
                    : code == SSH_AUTH_DENIED ? "rejected"
                                              : Format("cannot be offered: {}", ErrorText()));
  }
  throw support::Error("the guest's sshd at {} {} for user {}{}", Name(endpoint_),
                       offered ? "rejected every key in ssh.config"
                               : "was offered no key: none in ssh.config can be read",
                       endpoint_.user, tried);
}

void SessionGuest::Listen(TimePoint deadline) {
  for (const int port : {options_.port, 0}) {
    int code = SSH_AGAIN;
    while ((code = forwarding_.Listen(port)) == SSH_AGAIN && session_alive())
      PollUntilConnected(deadline);
    if (code == SSH_OK) return;
  }
  support::LogWarning(Format(
      "the guest's sshd forwards no port, so nothing is reached from there: {}", ErrorText()));
}

void SessionGuest::PollUntilConnected(TimePoint deadline) {
  if (stopping_) throw support::ConnectionLost("the connection was closed", false);
  if (support::Clock::now() >= deadline) {
    throw support::ConnectionLost(
        Format("the guest's sshd at {} did not complete the connection in time: "
               "the virtual machine hangs or is still starting. Try again, or restart it: `{}`",
               Name(endpoint_), lima::ForcedRestartCommand(endpoint_.instance)),
        false);
  }
  Poll(deadline);
}

}  // namespace ssh
