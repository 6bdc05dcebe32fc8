#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

namespace ssh {

ChannelBroker::ChannelBroker(Session& session, std::function<bool()> make_room)
    : session_(session), make_room_(std::move(make_room)) {}

void ChannelBroker::Request(ChannelUser& user) {
  waiting_.push_back({&user, next_turn_++});
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
  if (request.user == nullptr) return;
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.turn > request.turn;
  });
  waiting_.insert(later, request);
}

bool ChannelBroker::MayTakeFree(const Waiting& request) const {
  return !request.user->is_long_running() || !IsHopeless(request);
}

bool ChannelBroker::MayOpen(const Waiting& request, TimePoint now) const {
  if (open_ + opening_.size() < limit_) return MayTakeFree(request);
  // Above the number of channels that is known to work, try one at a time.
  return opening_.empty() && now >= retry_at_;
}

std::list<ChannelBroker::Waiting>::iterator ChannelBroker::Next(TimePoint now) {
  for (const bool long_running : {false, true}) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
      return waiting.user->is_long_running() == long_running;
    });
    if (next != waiting_.end()) return MayOpen(*next, now) ? next : waiting_.end();
  }
  return waiting_.end();
}

void ChannelBroker::FailHopeless(TimePoint now) {
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    TimePoint& since = waiting->hopeless_since;
    since = IsHopeless(*waiting) ? std::min(since, now) : TimePoint::max();
    if (since == TimePoint::max() || now - since < kRefusalPatience) {
      ++waiting;
      continue;
    }
    ChannelUser* const user = waiting->user;
    waiting = waiting_.erase(waiting);
    user->OnChannelImpossible(
        "the guest's sshd allows too few channels at once: " + std::to_string(limit_) +
        ", and this needs " + std::to_string(user->needed_channels()) +
        ". Set MaxSessions in the guest's sshd_config to 10, or remove it (the default is 10), and "
        "restart the instance");
  }
}

void ChannelBroker::StepWaiting(TimePoint now) {
  FailHopeless(now);
  for (auto next = Next(now); next != waiting_.end(); next = Next(now)) {
    opening_.push_back({std::make_unique<Channel>(session_.handle()), *next});
    waiting_.erase(next);
    // Sends the request; a later step checks for the reply.
    if (opening_.back().channel->Open() == Channel::Progress::kRefused) break;
  }
  for (Waiting& waiting : waiting_) {
    if (!std::exchange(waiting.delayed, true)) waiting.user->OnChannelDelayed();
  }
  if (waiting_.empty()) return;
  const bool needs_room = std::any_of(waiting_.begin(), waiting_.end(),
                                      [&](const Waiting& waiting) { return MayTakeFree(waiting); });
  if (now >= room_at_) {
    room_at_ = now + (needs_room && make_room_() ? kRoomPause : kRoomInterval);
  }
  // Nothing is sent for a process that may not take a free channel: do not step at once again.
  if (opening_.empty() && retry_at_ <= now) retry_at_ = room_at_;
}

ChannelBroker::TimePoint ChannelBroker::NextStep() const {
  if (waiting_.empty()) return TimePoint::max();
  return opening_.empty() ? std::min(room_at_, retry_at_) : room_at_;
}

}  // namespace ssh
