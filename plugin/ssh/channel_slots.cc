#include "ssh/channel_slots.h"

#include <algorithm>

namespace ssh {

bool ChannelSlots::MayOpen(TimePoint now) const {
  if (open_ + opening_ < limit_) return !refused_ || now >= retry_at_;
  // Beyond what is known to work: one try at a time.
  return opening_ == 0 && now >= retry_at_;
}

ChannelSlots::TimePoint ChannelSlots::RetryAt() const {
  return opening_ == 0 ? retry_at_ : TimePoint::max();
}

std::size_t ChannelSlots::OpenEndedLimit() const {
  // Not limit_: right after a channel was closed a refusal makes that one too small for a while.
  const std::size_t limit =
      limit_ == kUnknownLimit ? std::max(most_open_, kUsualLimit) : most_open_;
  return limit > kReserved ? limit - kReserved : 1;
}

void ChannelSlots::OnOpened() {
  --opening_;
  ++open_;
  most_open_ = std::max(most_open_, open_);
  refused_ = false;
  pause_ = kFirstPause;
  limit_ = std::max(limit_, open_);
}

void ChannelSlots::OnRefused(TimePoint now) {
  --opening_;
  refused_ = true;
  limit_ = open_;
  retry_at_ = now + pause_;
  pause_ = std::min<support::Clock::duration>(pause_ * 2, kLongestPause);
}

void ChannelSlots::OnClosed(TimePoint now) {
  --open_;
  retry_at_ = now;
  pause_ = kFirstPause;
}

}  // namespace ssh
