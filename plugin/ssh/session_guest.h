#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "guest/guest.h"
#include "shell/shells.h"
#include "ssh/completion.h"
#include "ssh/connection.h"
#include "ssh/process_run.h"
#include "ssh/session.h"
#include "ssh/sftp/sftp_service.h"

namespace ssh {

/// A guest over one SSH session (see Connect), and the thread that owns libssh's session and
/// everything that uses it. Other threads post work. It sleeps while there is nothing to do.
class SessionGuest final : public guest::Guest {
 public:
  SessionGuest(Endpoint endpoint, const ConnectionOptions& options);
  /// Closes the session within about kEndTimeout even if the guest is frozen.
  ~SessionGuest() override;

  static constexpr auto kEndTimeout = std::chrono::milliseconds(500);

  /// Waits until the session is connected. Throws what Session::Connect throws, and
  /// support::Stopped. Call it once, before anything else.
  void Connect(const support::Context& context);

  [[nodiscard]] bool alive() const override { return alive_; }
  std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                      const support::Context& context) override;
  void CloseLater(const guest::Handle& handle) noexcept override;
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
  // On the session's thread.
  void ThreadMain();
  void Serve();
  void RunTasks();
  /// Returns when to call it again even if nothing happens on the session.
  TimePoint StepAll(TimePoint now);
  void KeepAlive(TimePoint now);
  void End(const std::string& text);

  shell::Shells shells_{*this};
  Endpoint endpoint_;
  ConnectionOptions options_;
  support::WakePipe wake_;
  Session session_;
  ChannelBroker broker_;
  SftpService sftp_;
  std::vector<std::shared_ptr<ProcessRun>> processes_;
  TimePoint keepalive_at_ = TimePoint::max();
  std::uint64_t packets_seen_ = 0;
  int keepalives_unanswered_ = 0;

  Completion connected_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> alive_ = false;

  std::mutex mutex_;  // guards the members below
  std::vector<std::function<void()>> tasks_;
  bool accepting_ = true;

  std::promise<void> ended_;
  std::thread thread_;
};

}  // namespace ssh
