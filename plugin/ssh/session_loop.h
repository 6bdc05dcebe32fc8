#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "ssh/command_run.h"
#include "ssh/completion.h"
#include "ssh/endpoint.h"
#include "ssh/session.h"
#include "ssh/sftp_service.h"

namespace ssh {

/// The thread that alone touches libssh's session, and everything that runs on it. Other threads
/// post work and wait for its completion. The thread sleeps while there is nothing to do.
class SessionLoop {
 public:
  SessionLoop(Endpoint endpoint, const ConnectionOptions& options);
  /// Ends the session within about kEndPatience even where the guest is frozen.
  ~SessionLoop();
  SessionLoop(const SessionLoop&) = delete;
  SessionLoop& operator=(const SessionLoop&) = delete;

  static constexpr auto kEndPatience = std::chrono::milliseconds(500);

  /// Messages that the guest may leave untaken. Ours are far fewer: of the 4096 requests that SFTP
  /// may have under way, many go in one message. libssh answers all that the guest asks, and has no
  /// limit of its own.
  static constexpr std::uint64_t kMostUnsent = 16'384;

  /// Waits until the session is up; throws what Session::Connect throws, and support::Stopped.
  /// Once, before anything else.
  void Connect(const support::Context& context);

  /// Any thread. False once the session has ended.
  [[nodiscard]] bool alive() const { return alive_; }

  [[nodiscard]] support::Clock::duration request_timeout() const {
    return options_.operation_timeout;
  }

  /// Any thread: carry the work out and wait for its end. Throw what it failed with.
  void Run(const std::shared_ptr<CommandRun>& command, const support::Context& context);
  void Run(const std::shared_ptr<SftpOperation>& operation, const support::Context& context);

  /// Any thread: carries out several at once, begun in this order, and waits for the end of all.
  /// Returns what each failed with. Throws where none was begun.
  std::vector<std::exception_ptr> RunTogether(
      const std::vector<std::shared_ptr<SftpOperation>>& operations,
      const support::Context& context);

  /// Any thread: begins a spare command after the delay, without waiting. False once the session
  /// has ended.
  bool Start(const std::shared_ptr<CommandRun>& command, support::Clock::duration delay);
  /// Any thread: gives a spare command its input and waits for its end, as Run does. `taken`: see
  /// CommandRun::Use; called on the owned thread, and not after this has returned.
  void Use(const std::shared_ptr<CommandRun>& command, std::string input,
           std::function<bool()> taken, const support::Context& context);
  /// Any thread: ends a spare command, without waiting.
  void GiveUp(const std::shared_ptr<CommandRun>& command);

  /// Any thread: closes a file without waiting.
  void CloseHandle(const RemoteHandle& handle);

 private:
  using TimePoint = support::Clock::time_point;
  using Task = std::function<void()>;

  bool Post(Task task);
  void PostOrThrow(Task task);
  void WaitFor(const std::shared_ptr<CommandRun>& command, const support::Context& context);
  void WaitFor(const std::shared_ptr<SftpOperation>& operation, const support::Context& context);

  // What follows runs on the owned thread.
  void ThreadMain();
  void Serve();
  void RunTasks();
  void RunLastTasks();  ///< all of them, whatever one of them throws
  void StepAll(TimePoint now);
  void GiveUpOutdatedCommands();
  void GiveUpSpareCommands();
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
  std::vector<std::shared_ptr<CommandRun>> commands_;
  TimePoint keepalive_at_ = TimePoint::max();
  std::uint64_t packets_seen_ = 0;
  int keepalives_unanswered_ = 0;

  Completion connected_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> alive_ = false;

  std::mutex mutex_;  // of what follows
  std::deque<Task> tasks_;
  bool accepting_ = true;
  bool ended_ = false;
  std::condition_variable ended_changed_;

  std::thread thread_;
};

}  // namespace ssh
