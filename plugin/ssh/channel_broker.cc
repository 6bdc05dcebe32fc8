#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

namespace ssh {

ChannelBroker::ChannelBroker(Session& session, support::Clock::duration open_timeout)
    : session_(session), open_timeout_(open_timeout) {}

void ChannelBroker::Request(ChannelUser& user) {
  Enqueue({&user, next_turn_++, false});
}

void ChannelBroker::Withdraw(ChannelUser& user) {
  waiting_.remove_if([&](const Waiting& waiting) { return waiting.user == &user; });
  for (Opening& opening : opening_) {
    // libssh must not forget a channel that the guest is about to open: it stays until it can be
    // closed.
    if (opening.request.user == &user) opening.request.user = nullptr;
  }
}

void ChannelBroker::Retire(std::unique_ptr<Channel> channel) {
  channel->SetEvents(nullptr);
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
      open_ended_.erase(closing->channel.get());
      closing = closing_.erase(closing);
      slots_.OnClosed(now);
    } else {
      ++closing;
    }
  }
}

void ChannelBroker::StepOpening(TimePoint now) {
  for (auto opening = opening_.begin(); opening != opening_.end();) {
    const Channel::Progress progress = opening->channel->Open();
    if (progress == Channel::Progress::kAgain) {
      if (now >= opening->deadline && opening->request.user != nullptr) {
        ChannelUser* user = std::exchange(opening->request.user, nullptr);
        user->OnChannelImpossible("the guest's sshd does not answer the request for a channel");
      }
      ++opening;
      continue;
    }
    Opening finished = std::move(*opening);
    opening = opening_.erase(opening);
    if (progress == Channel::Progress::kDone) {
      slots_.OnOpened();
      refused_without_room_since_ = TimePoint::max();
      if (finished.request.user != nullptr) {
        finished.request.user->OnChannelOpen(std::move(finished.channel));
      } else {
        Retire(std::move(finished.channel));
      }
      continue;
    }
    open_ended_.erase(finished.channel.get());
    slots_.OnRefused(now);
    if (slots_.open() <= 1) {
      refused_without_room_since_ = std::min(refused_without_room_since_, now);
    }
    if (finished.request.user != nullptr) Enqueue(finished.request);
  }
}

bool ChannelBroker::LeavesRoom(const ChannelUser& user) const {
  return user.turn() != shell::Turn::kOpenEnded || open_ended_.size() < slots_.OpenEndedLimit();
}

void ChannelBroker::Enqueue(Waiting request) {
  const auto place = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.turn > request.turn;
  });
  waiting_.insert(place, request);
}

void ChannelBroker::StepWaiting(TimePoint now) {
  if (slots_.open() > 1) refused_without_room_since_ = TimePoint::max();
  if (!waiting_.empty() && refused_without_room_since_ != TimePoint::max() &&
      now - refused_without_room_since_ >= kRefusalPatience) {
    refused_without_room_since_ = TimePoint::max();
    for (const Waiting& waiting : std::exchange(waiting_, {})) {
      waiting.user->OnChannelImpossible(
          "the guest's sshd allows too few channels: it refuses a further one although no more "
          "than one is open. Files and commands need one each: MaxSessions in the guest's "
          "sshd_config must be 3 or more, and is 10 unless it is set there");
    }
    return;
  }
  for (auto next = waiting_.begin(); next != waiting_.end() && slots_.MayOpen(now);) {
    if (!LeavesRoom(*next->user)) {
      ++next;
      continue;
    }
    const Waiting request = *next;
    next = waiting_.erase(next);
    slots_.OnRequestSent();
    opening_.push_back(
        {std::make_unique<Channel>(session_.handle()), request, now + open_timeout_});
    if (request.user->turn() == shell::Turn::kOpenEnded) {
      open_ended_.insert(opening_.back().channel.get());
    }
    // Sends the request; the answer cannot have come, and if it has, the next step finds it.
    if (opening_.back().channel->Open() == Channel::Progress::kRefused) break;
  }
  for (Waiting& waiting : waiting_) {
    if (!std::exchange(waiting.delayed, true)) waiting.user->OnChannelDelayed();
  }
}

ChannelBroker::TimePoint ChannelBroker::NextStep() const {
  // Who only waits for another's end needs no time.
  const bool try_again = std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return LeavesRoom(*waiting.user);
  });
  TimePoint next = try_again ? slots_.RetryAt() : TimePoint::max();
  for (const Opening& opening : opening_) {
    if (opening.request.user != nullptr) next = std::min(next, opening.deadline);
  }
  return next;
}

}  // namespace ssh
