// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "guest/guest.h"
#include "shell/shells.h"
#include "ssh/completion.h"
#include "ssh/connection.h"
#include "ssh/forwarding.h"
#include "ssh/process_run.h"
#include "ssh/sftp/sftp_service.h"
#include "support/file_descriptor.h"
#include "support/pipe.h"

namespace ssh {

/// Converts `Ciphers` from ssh.config for libssh. "^a,b" puts a and b before the defaults
/// (ssh_config(5)); libssh 0.10 would lose the first of them.
std::string CipherList(const std::string& configured);

/// A guest over one SSH session (see Connect), and the thread that owns libssh's session and
/// everything that uses it. Other threads post work. It sleeps while there is nothing to do.
class SessionGuest final : public guest::Guest {
 public:
  SessionGuest(Endpoint endpoint, const ConnectionOptions& options);
  /// Closes the session within about kEndTimeout even if the guest is frozen.
  ~SessionGuest() override;

  static constexpr auto kEndTimeout = std::chrono::milliseconds(500);

  /// Connects, checks the host key, and authenticates with the endpoint's keys (see ssh::Connect).
  /// Does not use a configuration file or SSH agent. Call it once, before anything else.
  void Open(const support::Context& context);

  [[nodiscard]] bool alive() const override { return alive_; }
  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;
  void CloseLater(const guest::Handle& handle) noexcept override;
  [[nodiscard]] int forwarded_port() const override { return forwarding_.port(); }
  void Forward(support::FileDescriptor socket, int port,
               std::function<void(guest::ForwardEnd)> on_end) override;
  shell::Shells& shells() override { return shells_; }
  /// See ProcessRun for when a process counts as exited.
  std::unique_ptr<shell::Process> Start(std::string command_line,
                                        std::shared_ptr<shell::ProcessEvents> events) override;

  /// Any thread: runs `task` on the session's thread, in order. Returns false, and never runs it,
  /// if the session has ended. A task that throws ends the session, after all other tasks have run.
  bool Post(std::function<void()> task);

  /// For tasks only.
  [[nodiscard]] SftpService& sftp() { return sftp_; }

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

  /// Any thread: shuts the connection down, so that the session's thread sees it as lost.
  void ShutDownSocket();

  // On the session's thread.
  void ThreadMain();
  void OpenSession();
  void SetOptions(const std::string& host_key_algorithms);
  void KeepNonBlocking();
  void Authenticate(TimePoint deadline);
  /// Requests ConnectionOptions::port. Without one commands have no proxy.
  void Listen(TimePoint deadline);
  /// Throws support::ConnectionLost at the deadline, and when this is stopped.
  void PollUntilConnected(TimePoint deadline);
  /// Waits for session activity, the wake pipe or `until`, and runs libssh's callbacks.
  void Poll(TimePoint until);
  static int OnWake(socket_t fd, int events, void* self);
  /// False once the connection is lost; it never becomes true again.
  [[nodiscard]] bool session_alive() const;
  /// libssh's last error message, made printable because it may quote the guest.
  [[nodiscard]] std::string ErrorText() const;
  void Serve();
  void RunTasks();
  /// Returns when to call it again even if nothing happens on the session.
  TimePoint StepAll(TimePoint now);
  /// Gives the shells the channels that files and processes leave.
  void ShareChannels();
  void KeepAlive(TimePoint now);
  void End(const std::string& text);

  shell::Shells shells_{*this};
  Endpoint endpoint_;
  ConnectionOptions options_;
  support::WakePipe wake_;
  bool woken_ = false;
  bool poll_failed_ = false;
  ssh_counter_struct socket_bytes_{};  // unused, but libssh requires it
  ssh_counter_struct received_{};
  std::unique_ptr<ssh_session_struct, FreeSession> session_;
  std::unique_ptr<ssh_event_struct, FreeEvent> event_;  // freed before the session
  ChannelBroker broker_;
  SftpService sftp_;
  Forwarding forwarding_;
  std::vector<std::shared_ptr<ProcessRun>> processes_;
  TimePoint keepalive_at_ = TimePoint::max();
  std::uint64_t packets_seen_ = 0;
  int keepalives_unanswered_ = 0;

  Completion connected_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> alive_ = false;

  std::mutex socket_mutex_;
  support::FileDescriptor socket_copy_;  // a second descriptor of the session's socket

  std::mutex mutex_;  // guards the members below
  std::vector<std::function<void()>> tasks_;
  bool accepting_ = true;

  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace ssh
