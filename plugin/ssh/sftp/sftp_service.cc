#include "ssh/sftp/sftp_service.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"

namespace ssh {

void SftpService::Submit(std::shared_ptr<Burst> burst) {
  const std::uint64_t channel = burst->handle_channel();
  const bool ready = client_ && client_->ready();
  if (ready && (channel == 0 || channel == channel_number_)) {
    burst->Begin(*client_, channel_number_, support::Clock::now());
  } else if (channel != 0) {
    burst->FailLost("the file's SFTP channel has been closed");
  } else {
    waiting_.push_back(std::move(burst));
    if (state_ != State::kClosed) return;
    state_ = State::kWaiting;
    broker_.Request(*this);
  }
}

void SftpService::Withdraw(Burst& burst, support::StopReason reason) {
  if (burst.finished()) return;
  burst.Fail(MakeFailure<support::Stopped>(reason));
  std::erase_if(waiting_,
                [&](const std::shared_ptr<Burst>& other) { return other.get() == &burst; });
  for (const guest::Handle& handle : burst.Opened()) CloseHandle(handle);
  if (reason != support::StopReason::kDeadline || !channel_) return;
  const TimePoint silent_since = client_ ? client_->silent_since() : opened_at_;
  if (silent_since + kShortestSilence <= support::Clock::now()) {
    GiveUp("the guest's SFTP server does not answer");
  }
}

void SftpService::CloseHandle(const guest::Handle& handle) {
  if (state_ != State::kConversing || handle.channel != channel_number_) return;
  client_->Send(MakeRequest(guest::request::Close{handle}), support::Clock::now(),
                [](SftpReply&&) {});
}

void SftpService::OnChannelOpen(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  inbox_.clear();
  state_ = State::kRequesting;
  opened_at_ = support::Clock::now();
  Step(opened_at_);
}

void SftpService::OnChannelImpossible(const std::string& text) {
  state_ = State::kClosed;
  FailWaiting(text);
}

void SftpService::OnData(bool is_standard_error, std::string_view bytes) noexcept {
  if (!is_standard_error) inbox_ += bytes;
}

void SftpService::Step(TimePoint now) {
  if (state_ == State::kRequesting) StepRequest();
  if (state_ == State::kConversing) StepConversation(now);
}

void SftpService::StepRequest() {
  const Channel::Progress progress = channel_->RequestSftp();
  if (progress == Channel::Progress::kDone) {
    client_ = std::make_unique<SftpClient>(support::Clock::now());
    state_ = State::kConversing;
  } else if (progress == Channel::Progress::kRefused) {
    GiveUp(
        "the guest's sshd has no SFTP subsystem, which every tool needs: install the guest's "
        "package openssh-sftp-server (Fedora and others: openssh-server), add a line "
        "\"Subsystem sftp …\" to its sshd_config, and restart the instance");
  } else if (channel_->peer_closed()) {
    GiveUp("the guest's sshd closed the channel instead of starting SFTP");
  } else if (inbox_.size() > kMostBeforeAnswer) {
    // libssh keeps enlarging the window although nothing reads the data yet.
    GiveUp("the guest's sshd sends data before it answers the request for SFTP");
  }
}

void SftpService::StepConversation(TimePoint now) {
  ReceiveInbox(now);
  if (state_ != State::kConversing) return;
  if (client_->ready()) {
    for (const auto& burst : std::exchange(waiting_, {})) {
      burst->Begin(*client_, channel_number_, now);
    }
  }
  // One piece per step, so that a large upload does not delay the other channels.
  const std::size_t written = channel_->Write(client_->output());
  client_->Consumed(written);
  more_output_ = written > 0 && !client_->output().empty();
  CheckEnd();
}

void SftpService::ReceiveInbox(TimePoint now) {
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

void SftpService::CheckEnd() {
  // Sending polls too; the next turn reads what that received.
  if (!inbox_.empty()) return;
  if (channel_->peer_closed() || channel_->peer_sent_end_of_file()) {
    GiveUp(client_->ready()
               ? "the guest's SFTP server exited"
               : "the guest's SFTP server exited at once: it, or the login shell that starts it, "
                 "does not work in the guest");
  }
}

void SftpService::CloseChannel() {
  broker_.Retire(std::move(channel_));
  client_.reset();
  inbox_.clear();
  ++channel_number_;
  more_output_ = false;
  state_ = State::kClosed;
}

void SftpService::GiveUp(const std::string& reason) {
  const std::unique_ptr<SftpClient> client = std::move(client_);
  CloseChannel();
  if (client) client->Fail(reason);
  // These wait for the server's first reply. A server that fails before is not restarted for them.
  FailWaiting(reason);
}

void SftpService::FailWaiting(const std::string& reason) {
  for (const auto& burst : std::exchange(waiting_, {})) {
    burst->Fail(MakeFailure<support::CallError>(burst->Describe() + ": " + reason));
  }
}

void SftpService::Lose(const std::string& text) {
  if (client_) client_->Fail(text);
  for (const auto& burst : std::exchange(waiting_, {})) burst->FailLost(text);
  if (state_ == State::kWaiting) broker_.Withdraw(*this);
  channel_.reset();
  client_.reset();
  state_ = State::kClosed;
}

}  // namespace ssh
