#include "ssh/sftp/sftp_channel.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"

namespace ssh {

void SftpChannel::Close() {
  if (channel_) {
    broker_.Retire(std::move(channel_));
  } else if (!closed_) {
    broker_.Withdraw(*this);
  }
  closed_ = true;
}

void SftpChannel::Begin(const std::shared_ptr<Burst>& burst) {
  was_used_ = true;
  try {
    burst->Begin(*client_, support::Clock::now());
  } catch (...) {
    burst->Fail(std::current_exception());
    throw;
  }
}

void SftpChannel::GiveUpIfSilent() {
  if (closed_) return;
  const TimePoint silent_since = client_ ? client_->silent_since() : requested_at_;
  if (support::Clock::now() - silent_since >= kMinSilence) GiveUp(kSftpSilent);
}

void SftpChannel::GiveUp(const std::string& reason) {
  if (!was_used_) start_failure_ = reason;
  Close();
  if (client_) client_->Fail(reason);
}

void SftpChannel::OnGranted(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  client_.emplace(support::Clock::now(), number_);
}

TimePoint SftpChannel::Step(TimePoint now) {
  if (!client_ && inbox_.size() > kMaxBeforeReply) {
    // libssh keeps enlarging the window although nothing reads the data yet.
    GiveUp("the guest's sshd sends data before it answers the request for SFTP");
  }
  if (channel_) ReceiveInbox(now);
  bool has_more = false;
  if (channel_) {
    // One piece per step, so that a large upload does not delay the other channels.
    const std::size_t written = channel_->Write(client_->output());
    client_->Consumed(written);
    has_more = written > 0 && !client_->output().empty();
    CheckEnd();
  }
  hangs_ = ready() && now - client_->silent_since() >= kMaxSilence;
  if (hangs_ && !client_->FailBehindOldest(kSftpSilent)) GiveUp(kSftpSilent);
  if (has_more || closed_) return TimePoint::min();
  return hangs_ || !ready() || idle() ? TimePoint::max() : client_->silent_since() + kMaxSilence;
}

void SftpChannel::ReceiveInbox(TimePoint now) {
  if (inbox_.empty()) return;
  try {
    client_->Receive(inbox_, now);
  } catch (const SftpProtocolError& error) {
    return GiveUp((client_->ready() ? "the guest's SFTP server violates the protocol: " : "") +
                  std::string(error.what()));
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

}  // namespace ssh
