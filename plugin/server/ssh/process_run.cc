// SPDX-License-Identifier: Apache-2.0
#include "ssh/process_run.h"

#include <algorithm>

#include "support/printable.h"

namespace ssh {
namespace {

/// In bytes. Signals that are not in RFC 4254, 6.10 have names of the form "NAME@domain".
constexpr std::size_t kMaxSignalName = 64;

}  // namespace

void ProcessRun::Begin(ChannelBroker& broker) {
  broker_ = &broker;
  state_ = State::kWaiting;
  broker_->Request(*this, std::move(command_line_));
}

void ProcessRun::OnDelayed() {
  if (events_) events_->OnQueued();
}

void ProcessRun::OnGranted(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  state_ = State::kRunning;
}

void ProcessRun::OnRefused(const std::string& text, bool may_have_run) {
  end_.was_started = may_have_run;
  End(text);
  Finish();
}

void ProcessRun::Send(const std::string& bytes) {
  input_ += bytes;
  if (state_ == State::kRunning) StepInput();
}

void ProcessRun::EndInput() {
  input_ends_ = true;
  if (state_ == State::kRunning) StepInput();
}

void ProcessRun::Close() {
  events_ = nullptr;
  if (state_ == State::kWaiting) {
    broker_->Cancel(*this);
    state_ = State::kDone;
  } else if (state_ == State::kRunning) {
    channel_->SendEndOfFile();
    CloseChannel();
  }
}

void ProcessRun::OnSessionLost(const std::string& text) {
  if (state_ == State::kWaiting) broker_->Cancel(*this);
  end_.connection_lost = true;
  End(text);
  channel_.reset();
  Finish();
}

TimePoint ProcessRun::Step(TimePoint now) {
  if (state_ != State::kRunning) return TimePoint::max();
  const bool has_more = StepInput();
  if (!has_ended_ && HasEnded(now)) End("");
  if (channel_->peer_closed()) CloseChannel();
  if (has_more || done()) return now;
  return has_ended_ ? TimePoint::max() : grace_ends_;
}

bool ProcessRun::StepInput() {
  const std::size_t written = input_.empty() ? 0 : channel_->Write(input_);
  input_.erase(0, written);
  if (input_ends_ && !input_ended_ && (input_.empty() || channel_->write_failed())) {
    channel_->SendEndOfFile();
    input_ended_ = true;
  }
  return written > 0 && !input_.empty();
}

bool ProcessRun::HasEnded(TimePoint now) {
  if (channel_->peer_closed()) return true;
  if (!end_.exit_status && !end_.exit_signal) return false;
  if (channel_->peer_sent_end_of_file()) return true;
  if (drain_ends_ == TimePoint::max()) drain_ends_ = now + kMaxDrain;
  if (grace_ends_ == TimePoint::max()) grace_ends_ = std::min(now + kExitGrace, drain_ends_);
  return now >= grace_ends_;
}

void ProcessRun::End(const std::string& problem) {
  if (!events_ || std::exchange(has_ended_, true)) return;
  end_.problem = problem;
  events_->OnEnd(end_);
}

void ProcessRun::CloseChannel() {
  broker_->Close(std::move(channel_));
  Finish();
}

void ProcessRun::Finish() {
  state_ = State::kDone;
  if (events_) std::exchange(events_, nullptr)->OnClosed();
}

void ProcessRun::OnData(bool is_standard_error, std::string_view bytes) noexcept {
  if (!events_ || has_ended_) return;
  events_->OnOutput(is_standard_error ? shell::Stream::kError : shell::Stream::kOutput, bytes);
  grace_ends_ = TimePoint::max();
}

void ProcessRun::OnExitSignal(std::string_view name) noexcept {
  end_.exit_signal = support::Printable(name.substr(0, kMaxSignalName));
}

}  // namespace ssh
