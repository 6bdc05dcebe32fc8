// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "shell/process.h"
#include "ssh/channel_broker.h"

namespace ssh {

/// One process on its own channel (shell::Process). For the session's thread only.
///
/// The process has ended when its channel is closed, when its exit status and the end of its output
/// have arrived, or kExitGrace after the exit status and the last output, because background
/// processes may hold the output open forever. The channel stays open for them until Close.
class ProcessRun final : public ChannelUser {
 public:
  static constexpr auto kExitGrace = std::chrono::seconds(2);
  /// After the exit status, for output that was on its way, or comes from background processes.
  static constexpr auto kMaxDrain = std::chrono::seconds(10);

  ProcessRun(std::string command_line, std::shared_ptr<shell::ProcessEvents> events)
      : command_line_(std::move(command_line)),
        is_long_running_(events->is_long_running()),
        events_(std::move(events)) {}

  void Begin(ChannelBroker& broker);
  void Send(const std::string& bytes);
  void EndInput();
  /// Sends no more events, ends its input and closes the channel.
  void Close();
  /// Call it when the session is lost; `text` has the reason.
  void OnSessionLost(const std::string& text);

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);
  [[nodiscard]] bool has_channel() const { return state_ == State::kRunning; }
  /// True if nothing is left to do.
  [[nodiscard]] bool done() const { return state_ == State::kDone; }

  [[nodiscard]] bool is_long_running() const override { return is_long_running_; }
  void OnDelayed() override;
  void OnRequested() override { end_.was_started = true; }
  void OnGranted(std::unique_ptr<Channel> channel) override;
  void OnRefused(const std::string& text, bool may_have_run) override;
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override;
  void OnExitStatus(int status) noexcept override { end_.exit_status = status; }
  void OnExitSignal(std::string_view name) noexcept override;

 private:
  enum class State { kNew, kWaiting, kRunning, kDone };

  /// True if more can be sent at once.
  bool StepInput();
  [[nodiscard]] bool HasEnded(TimePoint now);
  void End(const std::string& problem);
  void CloseChannel();
  void Finish();

  std::string command_line_;
  const bool is_long_running_;
  std::shared_ptr<shell::ProcessEvents> events_;  // null once closed, and after Close
  ChannelBroker* broker_ = nullptr;
  std::unique_ptr<Channel> channel_;
  State state_ = State::kNew;
  shell::ProcessEnd end_;
  bool has_ended_ = false;  // OnEnd was called
  std::string input_;       // not yet sent
  bool input_ends_ = false;
  bool input_ended_ = false;
  // Both since the exit is known; the first since the last output too.
  TimePoint grace_ends_ = TimePoint::max();
  TimePoint drain_ends_ = TimePoint::max();
};

}  // namespace ssh
