#include "ssh/sftp_service.h"

#include <algorithm>
#include <utility>

#include "guest/no_file_server.h"
#include "support/errors.h"

namespace ssh {

SftpService::SftpService(ChannelBroker& broker, support::Clock::duration operation_timeout)
    : broker_(broker), operation_timeout_(operation_timeout) {}

void SftpService::Submit(std::shared_ptr<SftpOperation> operation) {
  const TimePoint now = support::Clock::now();
  const bool usable = state_ == State::kConversing && client_->ready();
  if (operation->handle_channel() != 0) {
    if (usable && operation->handle_channel() == channel_number_) {
      Begin(operation, now);
    } else {
      operation->FinishWithFailure(
          SftpLost{"the SFTP channel on which the file was open has been given up", false});
    }
    return;
  }
  if (usable && MayBegin(*operation)) {
    Begin(operation, now);
    return;
  }
  waiting_.push_back(std::move(operation));
  if (state_ == State::kClosed) {
    state_ = State::kWaiting;
    broker_.Request(*this);
  }
}

bool SftpService::MayBegin(const SftpOperation& operation) const {
  if (!served_first_) return false;
  if (!others_turn_) return true;
  // Whoever has a file open may have to know something else before closing it, and until it is
  // closed the channel is nobody else's. What opens a further file waits, or that might never be.
  return client_->open_handles() > 0 && !operation.opens();
}

void SftpService::Begin(const std::shared_ptr<SftpOperation>& operation, TimePoint now) {
  operation->set_channel(channel_number_);
  active_.push_back(operation);
  operation->Begin(*client_, now);
}

void SftpService::Withdraw(SftpOperation& operation, support::StopReason reason) {
  if (operation.finished()) return;
  operation.Finish(MakeFailure<support::Stopped>(reason));
  const auto is_it = [&](const std::shared_ptr<SftpOperation>& other) {
    return other.get() == &operation;
  };
  std::erase_if(waiting_, is_it);
  if (reason != support::StopReason::kDeadline || operation.channel() != channel_number_ ||
      !client_) {
    return;
  }
  const TimePoint since = client_->silent_since();
  if (since != TimePoint::max() && support::Clock::now() - since >= kShortestSilence) {
    GiveUp("the guest's SFTP server does not answer");
  }
}

void SftpService::CloseHandle(const RemoteHandle& handle) {
  if (state_ != State::kConversing || handle.channel != channel_number_) return;
  client_->Send(HandleRequest(SftpType::kClose, handle.handle), support::Clock::now(),
                [](SftpReply&&) {});
}

void SftpService::OnChannelOpen(std::unique_ptr<Channel> channel) {
  channel_ = std::move(channel);
  channel_->SetEvents(this);
  inbox_.clear();
  state_ = State::kRequesting;
  const TimePoint now = support::Clock::now();
  request_deadline_ = now + operation_timeout_;
  Step(now);
}

void SftpService::OnChannelImpossible(const std::string& text) {
  state_ = State::kClosed;
  FailWaiting<support::CallError>(text);
}

void SftpService::OnData(bool is_standard_error, std::string_view bytes) noexcept {
  if (!is_standard_error) inbox_ += bytes;
}

void SftpService::Step(TimePoint now) {
  if (state_ == State::kRequesting) StepRequest(now);
  if (state_ == State::kConversing) StepConversation(now);
}

void SftpService::StepRequest(TimePoint now) {
  const Channel::Progress progress = channel_->RequestSftp();
  if (progress == Channel::Progress::kDone) {
    client_ = std::make_unique<SftpClient>(operation_timeout_, now);
    state_ = State::kConversing;
  } else if (progress == Channel::Progress::kRefused) {
    GiveUp(
        "the guest's sshd has no SFTP subsystem, which the file tools need: install the guest's "
        "package openssh-sftp-server (Fedora and others: openssh-server), see that its sshd_config "
        "has a line \"Subsystem sftp …\", and restart the instance");
  } else if (channel_->peer_closed()) {
    GiveUp("the guest's sshd closed the channel before it had answered the request for SFTP");
  } else if (inbox_.size() > kMostBeforeAnswer) {
    // Nothing reads it yet, while libssh opens the window again and again.
    GiveUp("the guest's sshd sends data before it has answered the request for SFTP");
  } else if (now >= request_deadline_) {
    GiveUp("the guest's sshd did not answer the request for SFTP in time");
  }
}

void SftpService::StepConversation(TimePoint now) {
  ReceiveInbox(now);
  if (state_ != State::kConversing) return;
  if (client_->ready() && (!served_first_ || !others_turn_)) {
    served_first_ = true;
    while (!waiting_.empty()) {
      const std::shared_ptr<SftpOperation> operation = std::move(waiting_.front());
      waiting_.pop_front();
      Begin(operation, now);
    }
  }
  SendOutput(now);
  ForgetFinished();
  CheckEnd(now);
  if (state_ == State::kConversing) TakeTurns();
}

void SftpService::ReceiveInbox(TimePoint now) {
  if (inbox_.empty()) return;
  try {
    client_->Receive(inbox_, now);
  } catch (const SftpProtocolError& error) {
    GiveUp(client_->ready()
               ? std::string("the guest's SFTP server breaks the protocol: ") + error.what()
               : std::string(error.what()));
    return;
  }
  inbox_.clear();
}

void SftpService::ForgetFinished() {
  std::erase_if(active_, [](const auto& operation) { return operation->finished(); });
}

void SftpService::SendOutput(TimePoint now) {
  // One piece a step, so that a large upload does not hold up the other channels.
  const std::size_t written = channel_->Write(client_->output());
  client_->Consumed(written, now);
  for (const std::shared_ptr<SftpOperation>& operation : active_) {
    if (!operation->finished()) operation->Continue(*client_, now);
  }
  more_output_ = written > 0 && !client_->output().empty();
}

void SftpService::CheckEnd(TimePoint now) {
  // libssh polls as the output is sent, too: what came then is read in the next turn, which follows
  // at once.
  if (!inbox_.empty()) return;
  if (channel_->peer_closed() || channel_->peer_sent_end_of_file()) {
    GiveUp(client_->ready()
               ? "the guest's SFTP server ended"
               : "the guest's SFTP server ended before it had begun; it, or the login shell that "
                 "starts it, does not work in the guest");
  } else if (now >= client_->SilenceEnds()) {
    GiveUp("the guest's SFTP server does not answer");
  }
}

void SftpService::TakeTurns() {
  // Not before a refusal: where there are more channels, giving ours up would only start SFTP anew.
  others_turn_ = broker_.refused() && broker_.OthersWait(*this) && broker_.open_channels() <= 1;
  if (!others_turn_ || !served_first_ || !active_.empty() || client_->pending() > 0 ||
      !client_->output().empty() || client_->open_handles() > 0) {
    return;
  }
  CloseChannel();
  if (waiting_.empty()) return;
  state_ = State::kWaiting;
  broker_.Request(*this);
}

void SftpService::CloseChannel() {
  broker_.Retire(std::move(channel_));
  client_.reset();
  inbox_.clear();
  ++channel_number_;
  served_first_ = false;
  others_turn_ = false;
  more_output_ = false;
  state_ = State::kClosed;
}

void SftpService::GiveUp(const std::string& reason) {
  // Not whether the server was ready: one that breaks down in the middle of its introduction would
  // be started again and again for the sake of the operations that wait for it.
  const bool was_up = served_first_;
  const std::unique_ptr<SftpClient> client = std::move(client_);
  CloseChannel();
  if (client) client->Fail(reason);
  FailActive(reason);
  if (!was_up) FailWaiting<guest::NoFileServer>(reason);
  if (!waiting_.empty()) {
    state_ = State::kWaiting;
    broker_.Request(*this);
  }
}

void SftpService::FailActive(const std::string& reason) {
  // A write that waits for room in the output has no request that could fail. Left alone it would
  // go on with its handle on the next channel, where that is another file.
  for (const auto& operation : std::exchange(active_, {})) {
    operation->FinishWithFailure(SftpLost{reason, true});
  }
}

template <typename Error>
void SftpService::FailWaiting(const std::string& reason) {
  for (const auto& operation : std::exchange(waiting_, {})) {
    operation->Finish(MakeFailure<Error>(operation->subject().operation + " " +
                                         operation->subject().path + ": " + reason));
  }
}

void SftpService::Lose(const std::string& text) {
  if (client_) client_->Fail(text);
  FailActive(text);
  for (const auto& operation : std::exchange(waiting_, {})) {
    operation->FinishWithFailure(SftpLost{text, false});
  }
  if (state_ == State::kWaiting) broker_.Withdraw(*this);
  channel_.reset();
  client_.reset();
  state_ = State::kClosed;
}

SftpService::TimePoint SftpService::NextStep() const {
  // What waits because it was the others' turn, which is over since.
  const bool may_begin =
      state_ == State::kConversing && client_->ready() && !others_turn_ && !waiting_.empty();
  if (more_output_ || may_begin) return TimePoint::min();
  if (state_ == State::kRequesting) return request_deadline_;
  return client_ ? client_->SilenceEnds() : TimePoint::max();
}

}  // namespace ssh
