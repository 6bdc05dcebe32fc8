#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

namespace ssh {

ChannelBroker::ChannelBroker(Session& session, std::function<bool()> make_room)
    : session_(session), make_room_(std::move(make_room)) {}

void ChannelBroker::Request(ChannelUser& user) {
  waiting_.push_back({&user, next_turn_++, false});
}

void ChannelBroker::Withdraw(ChannelUser& user) {
  waiting_.remove_if([&](const Waiting& waiting) { return waiting.user == &user; });
  // A channel that is still being opened is kept until it can be closed.
  for (Opening& opening : opening_) {
    if (opening.request.user == &user) opening.request.user = nullptr;
  }
}

void ChannelBroker::Retire(std::unique_ptr<Channel> channel) {
  channel->SetUser(nullptr);
  const bool sent = channel->Close();
  closing_.push_back({std::move(channel), sent});
}

void ChannelBroker::Step(TimePoint now) {
  StepClosing(now);
  StepOpening(now);
  StepWaiting(now);
}

void ChannelBroker::StepClosing(TimePoint now) {
  for (auto closing = closing_.begin(); closing != closing_.end();) {
    if (!closing->sent) closing->sent = closing->channel->Close();
    if (closing->sent && closing->channel->peer_closed()) {
      closing = closing_.erase(closing);
      --open_;
      retry_at_ = now;
      pause_ = kFirstPause;
    } else {
      ++closing;
    }
  }
}

void ChannelBroker::StepOpening(TimePoint now) {
  for (auto opening = opening_.begin(); opening != opening_.end();) {
    const Channel::Progress progress = opening->channel->Open();
    if (progress == Channel::Progress::kAgain) {
      ++opening;
      continue;
    }
    Opening finished = std::move(*opening);
    opening = opening_.erase(opening);
    if (progress == Channel::Progress::kRefused) {
      OnRefused(finished.request, now);
      continue;
    }
    limit_ = std::max(limit_, ++open_);
    pause_ = kFirstPause;
    refused_since_ = TimePoint::max();
    if (finished.request.user != nullptr) {
      finished.channel->SetUser(finished.request.user);
      finished.request.user->OnChannelOpen(std::move(finished.channel));
    } else {
      Retire(std::move(finished.channel));
    }
  }
}

void ChannelBroker::OnRefused(const Waiting& request, TimePoint now) {
  limit_ = open_;
  retry_at_ = now + pause_;
  pause_ = std::min<support::Clock::duration>(pause_ * 2, kLongestPause);
  if (open_ <= 1) refused_since_ = std::min(refused_since_, now);
  if (request.user == nullptr) return;
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.turn > request.turn;
  });
  waiting_.insert(later, request);
}

bool ChannelBroker::MayOpen(TimePoint now) const {
  if (open_ + opening_.size() < limit_) return true;
  // Above the number of channels that is known to work, try one at a time.
  return opening_.empty() && now >= retry_at_;
}

void ChannelBroker::StepWaiting(TimePoint now) {
  if (open_ > 1) refused_since_ = TimePoint::max();
  if (waiting_.empty()) return;
  if (refused_since_ != TimePoint::max() && now - refused_since_ >= kRefusalPatience) {
    refused_since_ = TimePoint::max();
    for (const Waiting& waiting : std::exchange(waiting_, {})) {
      waiting.user->OnChannelImpossible(
          "the guest's sshd refuses a second channel, but files and commands need one each; set "
          "MaxSessions in the guest's sshd_config to 3 or more, or remove it (the default is 10)");
    }
    return;
  }
  while (!waiting_.empty() && MayOpen(now)) {
    opening_.push_back({std::make_unique<Channel>(session_.handle()), waiting_.front()});
    waiting_.pop_front();
    // Sends the request; a later step checks for the reply.
    if (opening_.back().channel->Open() == Channel::Progress::kRefused) break;
  }
  for (Waiting& waiting : waiting_) {
    if (!std::exchange(waiting.delayed, true)) waiting.user->OnChannelDelayed();
  }
  if (!waiting_.empty() && now >= room_at_) {
    room_at_ = now + (make_room_() ? kRoomPause : kRoomInterval);
  }
}

ChannelBroker::TimePoint ChannelBroker::NextStep() const {
  if (waiting_.empty()) return TimePoint::max();
  return opening_.empty() ? std::min(room_at_, retry_at_) : room_at_;
}

}  // namespace ssh
