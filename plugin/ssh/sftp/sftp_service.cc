#include "ssh/sftp/sftp_service.h"

#include <algorithm>

#include "support/errors.h"

namespace ssh {
namespace {

constexpr const char* kSilent = "the guest's SFTP server does not answer";

}  // namespace

void SftpChannel::Close() {
  if (channel_) {
    broker_.Retire(std::move(channel_));
  } else if (!closed_) {
    broker_.Withdraw(*this);
  }
  closed_ = true;
}

void SftpChannel::Begin(Burst& burst) {
  was_used_ = true;
  burst.Begin(*client_, support::Clock::now());
}

void SftpChannel::GiveUpIfSilent() {
  if (closed_ || !client_) return;
  if (support::Clock::now() - client_->silent_since() >= kMinSilence) GiveUp(kSilent);
}

void SftpChannel::GiveUp(const std::string& reason) {
  if (!was_used_) start_failure_ = reason;
  Close();
  if (client_) client_->Fail(reason);
}

TimePoint SftpChannel::Step(TimePoint now) {
  ReceiveInbox(now);
  bool has_more = false;
  if (channel_) {
    // One piece per step, so that a large upload does not delay the other channels.
    const std::size_t written = channel_->Write(client_->output());
    client_->Consumed(written);
    has_more = written > 0 && !client_->output().empty();
    CheckEnd();
  }
  hangs_ = ready() && now - client_->silent_since() >= kMaxSilence;
  if (hangs_ && !client_->FailBehindOldest(kSilent)) GiveUp(kSilent);
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

void SftpService::Submit(std::shared_ptr<Burst> burst) {
  const std::uint64_t number = burst->handle_channel();
  if (number == 0) return waiting_.push_back(std::move(burst));
  SftpChannel* const channel = Find(number);
  if (channel != nullptr && !channel->hangs()) return channel->Begin(*burst);
  burst->FailLost(channel == nullptr ? "the file's SFTP channel has been closed" : kSilent);
}

SftpChannel* SftpService::Find(std::uint64_t number) const {
  for (const auto& channel : channels_) {
    if (channel->number() == number && channel->ready()) return channel.get();
  }
  return nullptr;
}

SftpChannel* SftpService::Usable() const {
  const auto found = std::find_if(channels_.rbegin(), channels_.rend(), [](const auto& channel) {
    return channel->ready() && !channel->hangs();
  });
  return found == channels_.rend() ? nullptr : found->get();
}

void SftpService::Withdraw(Burst& burst, support::StopReason reason) {
  if (burst.finished()) return;
  burst.Fail(MakeFailure<support::Stopped>(reason));
  const bool waited =
      std::erase_if(waiting_, [&](const auto& other) { return other.get() == &burst; }) > 0;
  for (const auto& channel : channels_) {
    const bool is_cause = channel->Runs(burst) || (waited && !channel->ready());
    if (is_cause && reason == support::StopReason::kDeadline) channel->GiveUpIfSilent();
  }
}

void SftpService::CloseHandle(const guest::Handle& handle) {
  if (SftpChannel* const channel = Find(handle.channel)) channel->CloseHandle(handle);
}

TimePoint SftpService::Step(TimePoint now) {
  RemoveClosed();
  TimePoint next = StepWaiting() ? now : TimePoint::max();
  for (const auto& channel : channels_) next = std::min(next, channel->Step(now));
  CloseOneOfTwo();
  return !waiting_.empty() && Usable() != nullptr ? now : next;
}

bool SftpService::StepWaiting() {
  if (waiting_.empty()) return false;
  if (SftpChannel* const usable = Usable()) {
    while (!waiting_.empty()) {
      const std::shared_ptr<Burst> burst = std::move(waiting_.front());
      waiting_.erase(waiting_.begin());
      usable->Begin(*burst);
    }
  } else if (channels_.size() < kMaxChannels &&
             std::all_of(channels_.begin(), channels_.end(),
                         [](const auto& channel) { return channel->hangs(); })) {
    channels_.push_back(std::make_unique<SftpChannel>(broker_, ++last_number_));
    return true;
  }
  return false;
}

void SftpService::RemoveClosed() {
  for (const auto& channel : channels_) {
    const std::string& failure = channel->start_failure();
    if (failure.empty()) continue;
    // A server that does not start is not started again for the same bursts.
    for (const auto& burst : std::exchange(waiting_, {})) {
      burst->Fail(MakeFailure<support::CallError>(burst->Describe() + ": " + failure));
    }
  }
  std::erase_if(channels_, [](const auto& channel) { return channel->closed(); });
}

void SftpService::CloseOneOfTwo() {
  if (channels_.size() < kMaxChannels || channels_.front()->hangs()) return;
  const SftpChannel& newer = *channels_.back();
  if (!newer.ready()) {
    channels_.pop_back();
  } else if (!newer.hangs() && channels_.front()->idle()) {
    channels_.erase(channels_.begin());
  }
}

void SftpService::Lose(const std::string& text) {
  for (const auto& channel : channels_) channel->GiveUp(text);
  channels_.clear();
  for (const auto& burst : std::exchange(waiting_, {})) burst->FailLost(text);
}

}  // namespace ssh
