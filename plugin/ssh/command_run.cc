#include "ssh/command_run.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/printable.h"

namespace ssh {
namespace {

/// Bytes of a signal's name that are kept. Real ones have at most four, and "@" and a domain behind
/// them where SSH does not know them (RFC 4254, 6.10).
constexpr std::size_t kLongestSignalName = 64;

}  // namespace

CommandRun::CommandRun(const guest::Command& command, guest::OutputSink& sink,
                       support::Clock::duration request_timeout)
    : command_(&command),
      turn_(command.turn),
      changes_nothing_(command.changes_nothing),
      may_be_started_ahead_(command.may_be_started_ahead),
      sink_(&sink),
      request_timeout_(request_timeout) {}

void CommandRun::Begin(ChannelBroker& broker) {
  broker_ = &broker;
  Step(support::Clock::now());
}

void CommandRun::RequestChannel() {
  if (spare_) {
    if (!broker_->HasChannelToSpare()) return GiveUp("the guest's sshd has no channel to spare");
    spare_until_ = support::Clock::now() + kLongestSpare;
  }
  state_ = State::kWaiting;
  broker_->Request(*this);
}

void CommandRun::OnChannelDelayed() {
  lacks_channel_ = true;
  if (command_->on_queued) command_->on_queued();
}

void CommandRun::OnChannelOpen(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  channel_->SetEvents(this);
  state_ = State::kRequesting;
  const TimePoint now = support::Clock::now();
  request_deadline_ = now + request_timeout_;
  Step(now);
}

void CommandRun::OnChannelImpossible(const std::string& text) {
  Finish(MakeFailure<support::CallError>("the command was not run: " + text));
  state_ = State::kDone;
}

void CommandRun::Step(TimePoint now) {
  next_step_ = TimePoint::max();
  if (state_ == State::kNew) {
    if (now >= begin_at_) return RequestChannel();
    next_step_ = begin_at_;
    return;
  }
  if (spare_ && !finished_) {
    if (now >= spare_until_) return GiveUp("the waiting command has become too old");
    next_step_ = spare_until_;
  }
  if (std::exchange(output_came_, false)) last_output_ = now;
  if (state_ == State::kRequesting) StepRequest(now);
  if (state_ != State::kRunning) return;
  const bool more_input = StepInput();
  if (!HasEnded(now) && now < stop_deadline_) {
    next_step_ = more_input ? now : std::min(next_step_, stop_deadline_);
    return;
  }
  if (stop_reason_ == support::StopReason::kNone) {
    Finish(nullptr);
  } else {
    Finish(MakeFailure<support::Stopped>(stop_reason_));
    channel_->SendSignal("TERM");
  }
  CloseChannel();
}

void CommandRun::StepRequest(TimePoint now) {
  // The command line may be gone once the caller has been told; libssh wants it only the first
  // time, but on each call.
  static const std::string kGone;
  const Channel::Progress progress =
      channel_->RequestExec(finished_ ? kGone : command_->command_line);
  if (progress == Channel::Progress::kAgain) {
    next_step_ = std::min(next_step_, request_deadline_);
    const bool closed = channel_->peer_closed();
    if (!closed && now < request_deadline_) return;
    if (!finished_) {
      FinishLost(closed ? "the guest's sshd closed the channel before it had answered the request "
                          "to run the command"
                        : "the guest's sshd did not answer the request to run the command");
    }
    CloseChannel();
    return;
  }
  if (progress == Channel::Progress::kRefused) {
    if (!finished_) {
      Finish(MakeFailure<support::CallError>(
          "the guest's sshd refuses to run the command: it allows this user none, or the guest can "
          "start no further process"));
    }
    CloseChannel();
    return;
  }
  state_ = State::kRunning;
  if (finished_) {  // withdrawn in the meantime
    channel_->SendSignal("TERM");
    CloseChannel();
  }
}

bool CommandRun::StepInput() {
  if (input_ended_) return false;
  const std::string& first = command_->standard_input;
  const bool first_written = input_written_ >= first.size();
  const std::string_view left = first_written
                                    ? std::string_view(input_).substr(input_written_ - first.size())
                                    : std::string_view(first).substr(input_written_);
  const std::size_t written = left.empty() ? 0 : channel_->Write(left);
  input_written_ += written;
  const bool all_written =
      channel_->write_failed() || input_written_ == first.size() + input_.size();
  if (all_written && !command_->hold_standard_input_open) {
    channel_->SendEndOfFile();
    input_ended_ = true;
  }
  return written > 0 && !all_written;
}

bool CommandRun::HasEnded(TimePoint now) {
  if (sink_refused_ || channel_->peer_closed()) return true;
  if (!result_.exit_status && !result_.exit_signal) return false;
  if (channel_->peer_sent_end_of_file()) return true;
  if (status_at_ == TimePoint::max()) status_at_ = now;
  const TimePoint last_sign = std::max(status_at_, last_output_);
  next_step_ = command_->sink_knows_end ? last_sign + kKnownEndGrace
                                        : std::min<TimePoint>(last_sign + kOutputGrace,
                                                              status_at_ + kLongestOutputGrace);
  if (now < next_step_) return false;
  next_step_ = TimePoint::max();  // an answer wakes the session
  return HasAnsweredEnough();
}

bool CommandRun::HasAnsweredEnough() {
  while (questions_answered_ < kQuestions) {
    if (channel_->AskForAnswer() != Channel::Progress::kDone) return false;
    ++questions_answered_;
  }
  return true;
}

void CommandRun::Withdraw(support::StopReason reason) {
  if (finished_ || stop_reason_ != support::StopReason::kNone) return;
  if (state_ == State::kRunning && command_->stop_grace.count() > 0) return BeginToStop(reason);
  Finish(MakeFailure<support::Stopped>(reason));
  LeaveChannel("TERM");
}

void CommandRun::Use(std::string input, const std::function<bool()>& taken) {
  if (finished_ || !spare_) return;
  spare_ = false;
  used_ = true;
  input_ = std::move(input);
  if (taken && !taken()) {
    sink_refused_ = true;
    sink_ = nullptr;
  }
  if (state_ == State::kNew) RequestChannel();
}

void CommandRun::GiveUp(const std::string& text) {
  if (!spare_ || finished_) return;
  Finish(MakeFailure<support::ConnectionLost>(text, false));
  LeaveChannel(nullptr);
}

void CommandRun::LeaveChannel(const char* signal) {
  switch (state_) {
    case State::kWaiting:
      broker_->Withdraw(*this);
      state_ = State::kDone;
      break;
    case State::kRequesting:
      // The command would miss it before the answer: StepRequest tells it then.
      break;
    case State::kRunning:
      if (signal != nullptr) {
        channel_->SendSignal(signal);
      } else {
        channel_->SendEndOfFile();
      }
      CloseChannel();
      break;
    case State::kNew:
    case State::kDone:
      state_ = State::kDone;
      break;
  }
}

void CommandRun::BeginToStop(support::StopReason reason) {
  stop_reason_ = reason;
  stop_deadline_ = support::Clock::now() + command_->stop_grace;
  channel_->SendEndOfFile();
  input_ended_ = true;
  next_step_ = stop_deadline_;
}

void CommandRun::Lose(const std::string& text) {
  if (!finished_) FinishLost(text);
  if (state_ == State::kWaiting) broker_->Withdraw(*this);
  channel_.reset();
  state_ = State::kDone;
}

void CommandRun::FinishLost(const std::string& text) {
  const bool was_sent = !spare_ && (state_ == State::kRequesting || state_ == State::kRunning);
  const bool may_have_run = was_sent && !changes_nothing_;
  const char* const outcome = may_have_run ? "; the command may have run"
                              : was_sent   ? "; nothing was changed in the guest"
                                           : "; the command was not run";
  Finish(MakeFailure<support::ConnectionLost>(text + outcome, may_have_run));
}

void CommandRun::Finish(std::exception_ptr failure) {
  finished_ = true;
  if (sink_ != nullptr) sink_->OnEnd();
  sink_ = nullptr;
  completion_.Finish(std::move(failure));
}

void CommandRun::CloseChannel() {
  broker_->Retire(std::move(channel_));
  state_ = State::kDone;
}

void CommandRun::OnData(bool is_standard_error, std::string_view bytes) noexcept {
  output_came_ = true;
  if (sink_ == nullptr) return;
  const auto stream = is_standard_error ? guest::OutputStream::kStandardError
                                        : guest::OutputStream::kStandardOutput;
  if (!sink_->OnOutput(stream, bytes)) {
    sink_refused_ = true;
    sink_ = nullptr;
  }
}

void CommandRun::OnExitStatus(int status) noexcept {
  if (!finished_) result_.exit_status = status;
}

void CommandRun::OnExitSignal(std::string_view name) noexcept {
  if (!finished_) result_.exit_signal = support::Printable(name.substr(0, kLongestSignalName));
}

}  // namespace ssh
