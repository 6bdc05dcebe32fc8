// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "shell/process.h"
#include "shell/request.h"
#include "shell/resident_script.h"

namespace shell {

/// Guards sessions, and is notified of every report and end of one, and of a process's output.
struct SessionLock {
  std::mutex mutex;
  std::condition_variable changed;
};

/// Waits until `done`. Calls `report` each second meanwhile, without the lock. Returns false if the
/// context was stopped before.
template <typename Done, typename Report>
bool WaitWithReports(SessionLock& session_lock, std::unique_lock<std::mutex>& lock,
                     const support::Context& context, const Done& done, const Report& report) {
  bool is_done = done();
  while (!is_done && context.stop_reason() == support::StopReason::kNone) {
    lock.unlock();
    report();
    lock.lock();
    is_done = support::WaitUntil(session_lock.changed, lock, context, done,
                                 support::Clock::now() + std::chrono::seconds(1));
  }
  return is_done;
}

/// A session of resident_script.h on a channel of its own: a shell that runs requests, or one
/// long-running process.
class ShellSession final : public ProcessEvents, public std::enable_shared_from_this<ShellSession> {
 public:
  enum class State {
    kStarting,
    kReady,     ///< the shell waits for a request; the process runs
    kRunning,   ///< the shell runs a request
    kSettling,  ///< the request has ended; background processes may be left
    kOver,      ///< runs nothing any more, except what a request has left
  };

  /// What it has reported.
  struct Reported {
    State state = State::kStarting;
    bool was_queued = false;
    bool was_ready = false;
    std::optional<int> request_status;
    bool began = false;              ///< the request, after the profile; or it has none to wait for
    bool left = false;               ///< background processes of the request may be left
    std::optional<int> exit_status;  ///< of the loop or the process
    bool stopped = false;            ///< all processes of the session that could be
    std::string early_error;         ///< its standard error before it was ready
    std::optional<ProcessEnd> end;
    bool closed = false;  ///< nothing uses the channel any more
  };

  ShellSession(std::shared_ptr<SessionLock> session_lock, bool is_long_running);

  /// Starts a program of resident_script.h without waiting. Once. `sink`: takes the output from
  /// the time on that it is ready.
  void Launch(const std::string& program, std::shared_ptr<OutputSink> sink, Launcher& launcher);

  // For a shell, by the one thread that uses it.
  void Send(const std::string& request) { process_->Send(request); }
  /// Stops everything in the session.
  void Stop() { process_->EndInput(); }

  // With the session's lock held.

  [[nodiscard]] const Reported& reported() const { return reported_; }
  [[nodiscard]] bool is_over() const { return reported_.state == State::kOver; }
  /// Only background processes of a request still use the channel.
  [[nodiscard]] bool has_left_processes() const { return reported_.left && !reported_.closed; }
  /// Closes the channel, which stops what runs in it, except what a request has left.
  void Close();

  /// Before a request is sent, whose output the sink takes until FinishRequest. `has_profile`: it
  /// reports "began".
  void BeginRequest(OutputSink& sink, bool has_profile);
  void FinishRequest();
  /// It has ended, or will never report its end.
  [[nodiscard]] bool request_is_done() const;
  [[nodiscard]] bool sink_has_enough() const { return sink_has_enough_; }

  // For a process that is ready.
  void AddInput(std::string_view bytes);
  void EndInput();
  /// `name` is without "SIG".
  void Signal(std::string_view name);
  [[nodiscard]] std::size_t waiting_input() const { return input_.size(); }
  [[nodiscard]] bool input_is_taken() const { return input_.empty() && !input_is_under_way_; }
  [[nodiscard]] bool input_ended() const { return input_ends_; }

  void OnOutput(Stream stream, std::string_view bytes) override;
  void OnQueued() override;
  [[nodiscard]] bool is_long_running() const override { return is_long_running_; }
  void OnEnd(const ProcessEnd& end) override;
  void OnClosed() override;

 private:
  void Deliver(Stream stream, std::string_view own);
  /// What is printed before the first request.
  void KeepEarly(Stream stream, std::string_view own);
  /// `words` of a report (resident_script.h). Ignores others.
  void Apply(std::string_view words);
  /// Once both streams have said so: what came before belongs to the profile. A process has only
  /// one stream, and its output follows at once.
  void GetReady();
  /// Sends the input that may be sent now.
  void Pump();

  const std::shared_ptr<SessionLock> session_lock_;
  const bool is_long_running_;
  const std::string marker_ = MakeEndMarker();
  std::unique_ptr<Process> process_;
  ReportSplitter output_{marker_};
  ReportSplitter error_{marker_};
  std::shared_ptr<OutputSink> sink_;
  bool sink_has_enough_ = false;
  bool error_ended_ = false;  // the standard error of the profile, or the request, is complete
  bool ready_reported_ = false;
  std::size_t early_output_ = 0;
  Reported reported_;
  std::string input_;
  bool input_is_under_way_ = false;
  bool input_ends_ = false;
};

}  // namespace shell
