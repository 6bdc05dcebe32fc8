#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ssh/completion.h"
#include "ssh/endpoint.h"
#include "ssh/process_run.h"
#include "ssh/session.h"
#include "ssh/sftp/sftp_service.h"

namespace ssh {

inline constexpr const char* kConnectionGone =
    "the connection to the guest was lost; nothing was done";

/// The thread that owns libssh's session, and everything that runs on it. Other threads post work.
/// It sleeps while there is nothing to do.
class SessionLoop {
 public:
  /// `make_room`: see ChannelBroker.
  SessionLoop(Endpoint endpoint, const ConnectionOptions& options, std::function<bool()> make_room);
  /// Closes the session within about kEndPatience even if the guest is frozen.
  ~SessionLoop();
  SessionLoop(const SessionLoop&) = delete;
  SessionLoop& operator=(const SessionLoop&) = delete;

  static constexpr auto kEndPatience = std::chrono::milliseconds(500);

  /// Waits until the session is connected. Throws what Session::Connect throws, and
  /// support::Stopped. Call it once, before anything else.
  void Connect(const support::Context& context);

  /// Any thread. False once the session has ended.
  [[nodiscard]] bool alive() const { return alive_; }

  /// Any thread: runs `task` on the session's thread, in order. Returns false, and never runs it,
  /// if the session has ended. A task that throws ends the session, after all other tasks have run.
  bool Post(std::function<void()> task);

  /// Any thread: starts a process without waiting. If the session has ended, the process ends as
  /// lost.
  void Start(const std::shared_ptr<ProcessRun>& process);

  /// Any thread: see shell::Launcher.
  [[nodiscard]] std::size_t channels_for_shells() const { return channels_for_shells_; }

  /// For tasks only.
  [[nodiscard]] SftpService& sftp() { return sftp_; }

 private:
  using TimePoint = support::Clock::time_point;
  // On the session's thread.
  void ThreadMain();
  void Serve();
  void RunTasks();
  void StepAll(TimePoint now);
  TimePoint NextStep() const;
  void KeepAlive(TimePoint now);
  void FlushBriefly();
  void End(const std::string& text);

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
  std::atomic<std::size_t> channels_for_shells_ = shell::kMaxChannels - 1;

  std::mutex mutex_;  // guards the members below
  std::vector<std::function<void()>> tasks_;
  bool accepting_ = true;
  bool ended_ = false;
  std::condition_variable ended_changed_;

  std::thread thread_;
};

}  // namespace ssh
