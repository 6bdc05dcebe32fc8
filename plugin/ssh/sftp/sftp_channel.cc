#include "ssh/sftp/sftp_channel.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"

namespace ssh {

SftpChannel::~SftpChannel() {
  if (state_ == State::kWaiting) broker_.Withdraw(*this);
  if (channel_) broker_.Retire(std::move(channel_));
}

void SftpChannel::Begin(const std::shared_ptr<Burst>& burst) {
  try {
    was_used_ = true;
    running_.push_back(burst);
    burst->Begin(*client_, support::Clock::now());
  } catch (...) {
    burst->Fail(std::current_exception());
    throw;
  }
}

bool SftpChannel::Forget(const Burst& burst) {
  return std::erase_if(running_, [&](const auto& other) { return other.get() == &burst; }) > 0;
}

void SftpChannel::GiveUpIfSilent() {
  if (!channel_) return;
  const TimePoint silent_since = client_ ? client_->silent_since() : opened_at_;
  if (support::Clock::now() - silent_since >= kMinSilence) GiveUp(kSftpSilent);
}

void SftpChannel::CloseHandle(const guest::Handle& handle) {
  if (state_ != State::kConversing) return;
  client_->Send(guest::Request::Close(handle), support::Clock::now(), [](SftpReply&&) {});
}

void SftpChannel::OnChannelOpen(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  state_ = State::kRequesting;
  opened_at_ = support::Clock::now();
  Step(opened_at_);
}

void SftpChannel::OnChannelImpossible(const std::string& text) {
  state_ = State::kClosed;
  start_failure_ = text;
}

void SftpChannel::OnData(bool is_standard_error, std::string_view bytes) noexcept {
  if (!is_standard_error) inbox_ += bytes;
}

void SftpChannel::Step(TimePoint now) {
  if (state_ == State::kRequesting) StepRequest();
  if (state_ == State::kConversing) StepConversation(now);
}

void SftpChannel::StepRequest() {
  const Channel::Progress progress = channel_->RequestSftp();
  if (progress == Channel::Progress::kDone) {
    client_ = std::make_unique<SftpClient>(support::Clock::now(), number_);
    state_ = State::kConversing;
  } else if (progress == Channel::Progress::kRefused) {
    GiveUp(
        "the guest's sshd has no SFTP subsystem, which every tool needs: install the guest's "
        "package openssh-sftp-server (Fedora and others: openssh-server), add a line "
        "\"Subsystem sftp …\" to its sshd_config, and restart the instance");
  } else if (channel_->peer_closed()) {
    GiveUp("the guest's sshd closed the channel instead of starting SFTP");
  } else if (inbox_.size() > kMaxBeforeReply) {
    // libssh keeps enlarging the window although nothing reads the data yet.
    GiveUp("the guest's sshd sends data before it answers the request for SFTP");
  }
}

void SftpChannel::StepConversation(TimePoint now) {
  ReceiveInbox(now);
  if (state_ != State::kConversing) return;
  // One piece per step, so that a large upload does not delay the other channels.
  const std::size_t written = channel_->Write(client_->output());
  client_->Consumed(written);
  more_output_ = written > 0 && !client_->output().empty();
  CheckEnd();
  if (state_ == State::kConversing) CheckSilence(now);
}

void SftpChannel::CheckSilence(TimePoint now) {
  std::erase_if(running_, [](const auto& burst) { return burst->finished(); });
  const bool hung = std::exchange(hangs_, ready() && now - client_->silent_since() >= kMaxSilence);
  if (!hangs_) return;
  if (running_.empty()) return GiveUp(kSftpSilent);
  if (hung) return;
  for (const auto& burst : running_) {
    if (burst->changes_guest() || burst->first_request() <= client_->oldest_request()) continue;
    burst->FailLost(kSftpSilent);
  }
}

SftpChannel::TimePoint SftpChannel::NextStep() const {
  if (more_output_ || closed()) return TimePoint::min();
  if (hangs_ || !ready() || idle()) return TimePoint::max();
  return client_->silent_since() + kMaxSilence;
}

void SftpChannel::ReceiveInbox(TimePoint now) {
  if (inbox_.empty()) return;
  try {
    client_->Receive(inbox_, now);
  } catch (const SftpProtocolError& error) {
    return GiveUp(client_->ready()
                      ? std::string("the guest's SFTP server violates the protocol: ") +
                            error.what()
                      : error.what());
  }
  inbox_.clear();
}

void SftpChannel::CheckEnd() {
  // Sending polls too; the next turn reads what that received.
  if (!inbox_.empty()) return;
  if (channel_->peer_closed() || channel_->peer_sent_end_of_file()) {
    GiveUp(client_->ready()
               ? "the guest's SFTP server exited"
               : "the guest's SFTP server exited at once: it, or the login shell that starts it, "
                 "does not work in the guest");
  }
}

void SftpChannel::GiveUp(const std::string& reason) {
  if (!was_used_) start_failure_ = reason;
  broker_.Retire(std::move(channel_));
  state_ = State::kClosed;
  if (client_) client_->Fail(reason);
}

void SftpChannel::Lose(const std::string& text) {
  if (client_) client_->Fail(text);
  if (state_ == State::kWaiting) broker_.Withdraw(*this);
  channel_.reset();
  state_ = State::kClosed;
}

}  // namespace ssh
