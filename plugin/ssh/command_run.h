#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "guest/guest.h"
#include "ssh/channel_broker.h"
#include "ssh/completion.h"

namespace ssh {

/// One command on a channel of its own. All but `completion()` and `result()` belong to the thread
/// that owns the session. `command` and `sink` are used until the completion has finished.
///
/// When it ends: with its exit status (or signal) and the end of its output. sshd may send the
/// status before the last output, and never sends the end of the output while a background child
/// of the command holds the pipe: after the status, output is waited for until none has come for
/// kOutputGrace, and no longer than kLongestOutputGrace in all. With Command::sink_knows_end it is
/// the sink that tells, and kKnownEndGrace without output is a guest that lost its way. Silence
/// alone proves nothing (the line may be slow, the keys may be changing, sshd may be frozen): after
/// it sshd must have answered kQuestions times, so that what was in the pipe has been read.
///
/// A command may be a spare one, which waits for its input: it does not queue for a channel, and
/// has to give its own up when somebody else needs one.
class CommandRun final : public ChannelUser, public ChannelEvents {
 public:
  using TimePoint = support::Clock::time_point;

  static constexpr auto kOutputGrace = std::chrono::milliseconds(200);
  static constexpr auto kLongestOutputGrace = std::chrono::seconds(2);
  static constexpr auto kKnownEndGrace = std::chrono::seconds(10);
  /// sshd reads 16 KiB of a pipe between two of its looks at what we sent; a pipe holds 64 KiB.
  static constexpr int kQuestions = 5;

  /// How long a spare command waits at most.
  static constexpr auto kLongestSpare = std::chrono::minutes(5);

  CommandRun(const guest::Command& command, guest::OutputSink& sink,
             support::Clock::duration request_timeout);

  /// Before Begin. `delay`: how long it waits before it asks for a channel; it does so at once when
  /// it is used before.
  void MakeSpare(support::Clock::duration delay) {
    spare_ = true;
    begin_at_ = support::Clock::now() + delay;
  }
  [[nodiscard]] bool spare() const { return spare_; }
  /// Gives the input to a spare command, which is an ordinary one from then on. Where that is in
  /// time, `taken` is called, if there is one: false says that the sink wants no more.
  void Use(std::string input, const std::function<bool()>& taken);
  /// After the completion has finished: whether Use came in time.
  [[nodiscard]] bool used() const { return used_; }
  /// Whether it is a spare one that would have to wait for a channel.
  [[nodiscard]] bool lacks_channel() const { return spare_ && lacks_channel_; }
  /// Whether it is one of Command::may_be_started_ahead that still waits.
  [[nodiscard]] bool was_started_ahead() const { return spare_ && may_be_started_ahead_; }
  /// Once it is done.
  [[nodiscard]] bool may_have_changed_guest() const { return !spare_ && !changes_nothing_; }
  /// Ends the command if it is still a spare one.
  void GiveUp(const std::string& text);

  Completion& completion() { return completion_; }
  /// After the completion has finished.
  [[nodiscard]] const guest::CommandResult& result() const { return result_; }

  void Begin(ChannelBroker& broker);
  void Step(TimePoint now);
  [[nodiscard]] TimePoint NextStep() const { return next_step_; }
  /// Finishes the completion with support::Stopped, at once or within Command::stop_grace; the
  /// command in the guest is told to end (end of its standard input, TERM, channel closed).
  void Withdraw(support::StopReason reason);
  /// The session died: `text` says how.
  void Lose(const std::string& text);
  /// Nothing is left to do: may be forgotten.
  [[nodiscard]] bool done() const { return state_ == State::kDone; }

  [[nodiscard]] guest::Turn turn() const override { return turn_; }
  void OnChannelOpen(std::unique_ptr<Channel> channel) override;
  void OnChannelDelayed() override;
  void OnChannelImpossible(const std::string& text) override;
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override;
  void OnExitStatus(int status) noexcept override;
  void OnExitSignal(std::string_view name) noexcept override;

 private:
  enum class State { kNew, kWaiting, kRequesting, kRunning, kDone };

  void RequestChannel();
  void StepRequest(TimePoint now);
  bool StepInput();  ///< true when more could be written at once
  bool HasEnded(TimePoint now);
  bool HasAnsweredEnough();
  void BeginToStop(support::StopReason reason);
  void Finish(std::exception_ptr failure);
  void FinishLost(const std::string& text);
  /// For a command that nobody waits for any more. A running one is told by `signal`, or, where
  /// that is null, by the end of its input.
  void LeaveChannel(const char* signal);
  void CloseChannel();

  const guest::Command* command_;
  guest::Turn turn_;
  bool changes_nothing_;
  bool may_be_started_ahead_;
  guest::OutputSink* sink_;  // null once nothing more is wanted
  support::Clock::duration request_timeout_;
  Completion completion_;
  guest::CommandResult result_;
  ChannelBroker* broker_ = nullptr;
  std::unique_ptr<Channel> channel_;
  State state_ = State::kNew;
  bool finished_ = false;
  bool sink_refused_ = false;
  bool input_ended_ = false;
  bool spare_ = false;
  bool used_ = false;
  bool lacks_channel_ = false;
  TimePoint begin_at_ = TimePoint::min();
  TimePoint spare_until_ = TimePoint::max();
  std::string input_;  // what follows command_->standard_input
  support::StopReason stop_reason_ = support::StopReason::kNone;
  std::size_t input_written_ = 0;
  bool output_came_ = false;
  TimePoint request_deadline_ = TimePoint::max();
  TimePoint stop_deadline_ = TimePoint::max();
  TimePoint status_at_ = TimePoint::max();
  int questions_answered_ = 0;
  TimePoint last_output_;
  TimePoint next_step_ = TimePoint::max();
};

}  // namespace ssh
