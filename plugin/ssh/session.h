#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "ssh/endpoint.h"
#include "support/file_descriptor.h"
#include "support/wake_pipe.h"

namespace ssh {

/// The value of libssh's cipher options for the value of `Ciphers` in ssh.config: "^a,b" puts a and
/// b before the default ones (ssh_config(5)). libssh 0.10 would lose the first of them.
std::string CipherList(const std::string& configured);

/// One SSH session and the event loop around it. For the thread that owns it, except Break. Only
/// Connect and Poll wait, and no longer than their arguments allow.
class Session {
 public:
  /// `wake` interrupts Connect and Poll; it must outlive the session.
  explicit Session(support::WakePipe& wake);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Connects and authenticates with the endpoint's keys. Reads no configuration file, agent or
  /// known_hosts, and does not check the host key: Lima's own ssh.config says StrictHostKeyChecking
  /// no. Throws support::ConnectionLost if the guest cannot be reached in time or `stopped` becomes
  /// true (it is called after each wake-up), support::CallError if every key is rejected.
  void Connect(const Endpoint& endpoint, support::Clock::duration timeout,
               const std::function<bool()>& stopped);

  /// Waits until the session moves, the pipe wakes or `until`, and lets libssh call back.
  void Poll(support::Clock::time_point until);

  /// False once the connection is gone, for good.
  [[nodiscard]] bool alive() const;

  /// libssh's text for the last error, printable: it may quote the guest.
  [[nodiscard]] std::string ErrorText() const;

  void SendKeepAlive();

  [[nodiscard]] std::uint64_t packets_received() const { return received_.in_packets; }

  /// True while libssh holds bytes that the socket has not taken.
  [[nodiscard]] bool output_waits() const;

  [[nodiscard]] ssh_session handle() const { return session_.get(); }

  /// Any thread: cuts the connection, so that the owner finds it dead.
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
  void Authenticate(const Endpoint& endpoint, support::Clock::time_point deadline,
                    const std::function<bool()>& stopped);
  void PollOrGiveUp(const Endpoint& endpoint, support::Clock::time_point deadline,
                    const std::function<bool()>& stopped);
  static int OnWake(socket_t fd, int events, void* self);

  support::WakePipe& wake_;
  bool woken_ = false;
  bool poll_failed_ = false;
  ssh_counter_struct socket_bytes_{};  // libssh wants both
  ssh_counter_struct received_{};
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;  // freed before the session
  std::mutex break_mutex_;
  support::FileDescriptor break_fd_;  // a second descriptor of the session's socket
};

}  // namespace ssh
