#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

namespace ssh {

ChannelBroker::ChannelBroker(Session& session, std::function<bool()> make_room)
    : session_(session), make_room_(std::move(make_room)) {}

void ChannelBroker::Request(ChannelUser& user) {
  const auto later = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.is_long_running() && !user.is_long_running();
  });
  waiting_.insert(later, Waiting{&user, user.needed_channels()});
}

void ChannelBroker::Withdraw(ChannelUser& user) {
  waiting_.remove_if(
      [&](const Waiting& waiting) { return waiting.user == &user && !waiting.channel; });
  // A channel that is still being opened is kept until it can be closed.
  for (Waiting& waiting : waiting_) {
    if (waiting.user == &user) waiting.user = nullptr;
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
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (!waiting->channel) continue;
    const Channel::Progress progress = waiting->channel->Open();
    if (progress == Channel::Progress::kRefused) {
      limit_ = open_;
      retry_at_ = now + pause_;
      pause_ = std::min<support::Clock::duration>(pause_ * 2, kMaxPause);
      waiting->channel.reset();
      if (waiting->user == nullptr) waiting_.erase(waiting);
    } else if (progress == Channel::Progress::kDone) {
      limit_ = std::max(limit_, ++open_);
      pause_ = kFirstPause;
      Waiting opened = std::move(*waiting);
      waiting_.erase(waiting);
      if (opened.user == nullptr) {
        Retire(std::move(opened.channel));
      } else {
        opened.channel->SetUser(opened.user);
        opened.user->OnChannelOpen(std::move(opened.channel));
      }
    }
  }
}

std::size_t ChannelBroker::opening() const {
  return static_cast<std::size_t>(std::count_if(
      waiting_.begin(), waiting_.end(), [](const Waiting& waiting) { return !!waiting.channel; }));
}

bool ChannelBroker::MayOpen(const Waiting& request, TimePoint now) const {
  if (open_ + opening() < limit_) return MayTakeFree(request);
  // Above the number of channels that is known to work, try one at a time.
  return opening() == 0 && now >= retry_at_;
}

void ChannelBroker::StepWaiting(TimePoint now) {
  bool may_open = true;
  bool needs_room = false;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (waiting->channel || FailIfHopeless(waiting, now)) continue;
    may_open = may_open && MayOpen(*waiting, now);
    if (may_open) {
      waiting->channel = std::make_unique<Channel>(session_.handle());
      // Sends the request; a later step checks for the reply.
      may_open = waiting->channel->Open() != Channel::Progress::kRefused;
      continue;
    }
    needs_room = needs_room || MayTakeFree(*waiting);
    if (!std::exchange(waiting->delayed, true)) waiting->user->OnChannelDelayed();
  }
  if (opening() == waiting_.size()) return;
  if (now >= room_at_) {
    room_at_ = now + (needs_room && make_room_() ? kRoomPause : kRoomInterval);
  }
  // Nothing is sent for a process that may not take a free channel: do not step at once again.
  if (opening() == 0 && retry_at_ <= now) retry_at_ = room_at_;
}

bool ChannelBroker::FailIfHopeless(std::list<Waiting>::iterator waiting, TimePoint now) {
  TimePoint& since = waiting->hopeless_since;
  since = limit_ < waiting->needed ? std::min(since, now) : TimePoint::max();
  if (since == TimePoint::max() || now - since < kRefusalTimeout) return false;
  const Waiting failed = std::move(*waiting);
  waiting_.erase(waiting);
  failed.user->OnChannelImpossible(
      "the guest's sshd allows too few channels at once: " + std::to_string(limit_) +
      ", and this needs " + std::to_string(failed.needed) +
      ". Set MaxSessions in the guest's sshd_config to 10, or remove it (the default is 10), and "
      "restart the instance");
  return true;
}

ChannelBroker::TimePoint ChannelBroker::NextStep() const {
  if (opening() == waiting_.size()) return TimePoint::max();
  return opening() == 0 ? std::min(room_at_, retry_at_) : room_at_;
}

}  // namespace ssh
