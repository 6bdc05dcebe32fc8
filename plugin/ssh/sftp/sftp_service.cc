#include "ssh/sftp/sftp_service.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"

namespace ssh {

void SftpService::Submit(std::shared_ptr<Burst> burst) {
  const std::uint64_t number = burst->handle_channel();
  if (number == 0) return Choose().Submit(std::move(burst));
  SftpChannel* const channel = Find(number);
  if (channel == nullptr) {
    burst->FailLost("the file's SFTP channel has been closed");
  } else if (channel->hangs()) {
    burst->FailLost(kSftpSilent);
  } else {
    channel->Submit(std::move(burst));
  }
}

SftpChannel* SftpService::Find(std::uint64_t number) {
  const auto found = std::find_if(channels_.begin(), channels_.end(), [&](const auto& channel) {
    return channel->number() == number && !channel->closed();
  });
  return found == channels_.end() ? nullptr : found->get();
}

SftpChannel& SftpService::Choose() {
  std::erase_if(channels_, [](const auto& channel) { return channel->closed(); });
  const auto found = std::find_if(channels_.rbegin(), channels_.rend(),
                                  [](const auto& channel) { return !channel->hangs(); });
  if (found != channels_.rend()) return **found;
  if (channels_.size() < kMaxChannels) {
    channels_.push_back(std::make_unique<SftpChannel>(broker_, ++last_number_));
  }
  return *channels_.back();
}

void SftpService::Withdraw(Burst& burst, support::StopReason reason) {
  if (burst.finished()) return;
  burst.Fail(MakeFailure<support::Stopped>(reason));
  for (const auto& channel : channels_) channel->Forget(burst, reason);
}

void SftpService::CloseHandle(const guest::Handle& handle) {
  if (SftpChannel* const channel = Find(handle.channel); channel != nullptr) {
    channel->CloseHandle(handle);
  }
}

void SftpService::Step(TimePoint now) {
  for (const auto& channel : channels_) channel->Step(now);
  std::erase_if(channels_, [](const auto& channel) { return channel->closed(); });
  if (channels_.size() < kMaxChannels || channels_.front()->hangs()) return;
  if (!channels_.back()->ready()) {
    for (auto& burst : channels_.back()->TakeWaiting()) channels_.front()->Submit(std::move(burst));
    channels_.pop_back();
    channels_.front()->Step(now);  // sends them
  } else if (!channels_.back()->hangs() && channels_.front()->idle()) {
    channels_.erase(channels_.begin());
  }
}

SftpService::TimePoint SftpService::NextStep() const {
  TimePoint next = TimePoint::max();
  for (const auto& channel : channels_) next = std::min(next, channel->NextStep());
  return next;
}

void SftpService::Lose(const std::string& text) {
  for (const auto& channel : channels_) channel->Lose(text);
  channels_.clear();
}

}  // namespace ssh
