#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ssh/completion.h"
#include "ssh/connection.h"
#include "support/file_descriptor.h"
#include "support/wake_pipe.h"

namespace ssh {

/// Converts `Ciphers` from ssh.config for libssh. "^a,b" puts a and b before the defaults
/// (ssh_config(5)); libssh 0.10 would lose the first of them.
std::string CipherList(const std::string& configured);

/// One SSH session and its event loop. Only the owning thread may use it, except for Break. Only
/// Connect and Poll wait, within the time that their arguments allow.
class Session {
 public:
  /// `wake` interrupts Connect and Poll; it must outlive the session.
  explicit Session(support::WakePipe& wake);
  ~Session();

  /// Connects and authenticates with the endpoint's keys. Does not use a configuration file, SSH
  /// agent or known_hosts. Does not check the host key, as Lima's ssh.config sets
  /// StrictHostKeyChecking to no. Throws support::ConnectionLost if the guest cannot be reached in
  /// time or `stopped`, called after each wake-up, returns true; support::CallError if every key is
  /// rejected.
  void Connect(const Endpoint& endpoint, support::Clock::duration timeout,
               const std::function<bool()>& stopped);

  /// Waits for session activity, the wake pipe or `until`, and runs libssh's callbacks.
  void Poll(TimePoint until);

  /// False once the connection is lost; it never becomes true again.
  [[nodiscard]] bool alive() const;

  /// libssh's last error message, made printable because it may quote the guest.
  [[nodiscard]] std::string ErrorText() const;

  void SendKeepAlive();

  [[nodiscard]] std::uint64_t packets_received() const { return received_.in_packets; }

  [[nodiscard]] ssh_session handle() const { return session_.get(); }

  /// Any thread: shuts the connection down, so that the owner sees it as lost.
  void Break();

 private:
  struct FreeSession {
    void operator()(ssh_session session) const noexcept {
      ssh_disconnect(session);
      ssh_free(session);
    }
  };
  struct FreeEvent {
    void operator()(ssh_event event) const noexcept { ssh_event_free(event); }
  };

  void SetOptions(const Endpoint& endpoint);
  void KeepNonBlocking();
  void Authenticate(const Endpoint& endpoint, const std::function<void()>& poll);
  static int OnWake(socket_t fd, int events, void* self);

  support::WakePipe& wake_;
  bool woken_ = false;
  bool poll_failed_ = false;
  ssh_counter_struct socket_bytes_{};  // unused, but libssh requires it
  ssh_counter_struct received_{};
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;  // freed before the session
  std::mutex break_mutex_;
  support::FileDescriptor break_fd_;  // a second descriptor of the session's socket
};

}  // namespace ssh
