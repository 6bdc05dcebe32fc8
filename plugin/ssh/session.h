#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "ssh/endpoint.h"
#include "ssh/handles.h"
#include "support/file_descriptor.h"
#include "support/wake_pipe.h"

namespace ssh {

/// One SSH session and the event loop around it. All calls but Break belong to the one thread that
/// owns it; none of them blocks except Connect and Poll, and those only as long as they are told.
class Session {
 public:
  /// `wake` interrupts Connect and Poll; it must outlive the session.
  explicit Session(support::WakePipe& wake);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Connects and authenticates with the endpoint's keys. No configuration file, no agent and no
  /// known_hosts file is read or written; the host key is not checked, as Lima's own ssh.config has
  /// it for a virtual machine on this host (StrictHostKeyChecking no). Throws
  /// support::ConnectionLost when the guest cannot be reached in time, support::CallError when it
  /// lets none of the keys in. `stopped` is asked after each wake-up; when it says true,
  /// support::ConnectionLost is thrown.
  void Connect(const Endpoint& endpoint, support::Clock::duration timeout,
               const std::function<bool()>& stopped);

  /// Waits until the session moves, the pipe wakes or `until` comes, and lets libssh call back.
  /// Returns at once where a wake-up came while libssh was polling by itself.
  void Poll(support::Clock::time_point until);

  /// False once the connection is gone; nothing brings it back.
  [[nodiscard]] bool alive() const;

  /// libssh's words for what went wrong last, printable: the guest's own may be among them.
  [[nodiscard]] std::string ErrorText() const;

  /// Asks the guest for a sign of life.
  void SendKeepAlive();

  /// Counts everything that came from the guest.
  [[nodiscard]] std::uint64_t packets_received() const { return received_.in_packets; }

  /// True while libssh holds bytes that the socket has not taken yet.
  [[nodiscard]] bool output_waits() const;

  /// About how many messages libssh holds that the socket has not taken yet; fewer beside a large
  /// upload.
  [[nodiscard]] std::uint64_t messages_unsent() const;

  [[nodiscard]] ssh_session handle() const { return session_.get(); }

  /// Any thread, any time: cuts the connection, so that the owner finds it dead.
  void Break();

 private:
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
  // libssh counts the socket's bytes in the one, and messages in both directions in the other.
  ssh_counter_struct sent_{};
  ssh_counter_struct received_{};
  // Both of them when libssh last held nothing.
  std::uint64_t bytes_when_empty_ = 0;
  std::uint64_t messages_when_empty_ = 0;
  SessionHandle session_;
  EventHandle event_;  // freed before the session
  std::mutex break_mutex_;
  support::FileDescriptor break_fd_;  // a second descriptor of the session's socket
};

}  // namespace ssh
