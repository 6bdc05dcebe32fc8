// SPDX-License-Identifier: Apache-2.0
#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

#include "support/format.h"

namespace ssh {
namespace {

/// Why a request failed to which sshd replied, or closed the channel instead.
std::string Refusal(bool is_sftp, bool has_reply) {
  if (!has_reply) {
    return support::Format("the guest's sshd closed the channel instead of {}",
                           is_sftp ? "starting SFTP" : "running a command");
  }
  return is_sftp ? "the guest's sshd has no SFTP subsystem, which every tool needs: install the "
                   "guest's package openssh-sftp-server (Fedora and others: openssh-server), add a "
                   "line \"Subsystem sftp internal-sftp\" to its sshd_config, and restart the "
                   "guest's sshd"
                 : "the guest's sshd refuses to run a command: this user may not run commands, or "
                   "the guest cannot start another process";
}

}  // namespace

ChannelBroker::ChannelBroker(ssh_session session, std::function<bool()> make_room)
    : session_(session), make_room_(std::move(make_room)) {}

void ChannelBroker::Request(ChannelUser& user, std::string command_line) {
  const auto later =
      std::find_if(waiting_.begin(), waiting_.end(), [&](const ChannelRequest& waiting) {
        return waiting.user != nullptr && waiting.user->is_long_running() &&
               !user.is_long_running();
      });
  waiting_.insert(later, ChannelRequest{&user, std::move(command_line)});
}

void ChannelBroker::Cancel(ChannelUser& user) {
  waiting_.remove_if(
      [&](const ChannelRequest& waiting) { return waiting.user == &user && !waiting.channel; });
  for (auto* const list : {&waiting_, &requesting_}) {
    for (ChannelRequest& waiting : *list) {
      if (waiting.user != &user) continue;
      waiting.user = nullptr;
      waiting.channel->SetUser(nullptr);
    }
  }
}

void ChannelBroker::Close(std::unique_ptr<Channel> channel) {
  channel->SetUser(nullptr);
  channel->Close();
  closing_.push_back(std::move(channel));
}

TimePoint ChannelBroker::Step(TimePoint now) {
  StepClosing(now);
  StepOpening(now);
  StepRequesting();
  StepWaiting(now);
  if (waiting_.empty()) return TimePoint::max();
  return opening() == 0 ? retry_at_ : now + kMaxPause;
}

void ChannelBroker::StepClosing(TimePoint now) {
  const std::size_t closed =
      std::erase_if(closing_, [](const auto& channel) { return channel->Close(); });
  if (closed == 0) return;
  open_ -= closed;
  retry_at_ = now;
  pause_ = kFirstPause;
}

// A refusal is the only sign of sshd's limit, so the limit becomes what is open now; a later
// success raises it, because sshd may have counted a process that was about to exit. A refused
// request stays in its place, and StepWaiting sends it again after a pause. It also closes one idle
// shell, but not a second one within kRoomPause: sshd frees the slot late, and the refusals until
// then would close all of them. A request whose user has gone still gets its reply: the channel
// that comes then must be closed, as one that is only forgotten keeps its slot.
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
      if (waiting->user == nullptr) {
        waiting_.erase(waiting);
      } else if (now >= room_at_ && MayTakeFree(*waiting) && make_room_()) {
        room_at_ = now + kRoomPause;
      }
    } else if (progress == Channel::Progress::kDone) {
      limit_ = std::max(limit_, ++open_);
      pause_ = kFirstPause;
      room_at_ = TimePoint::min();
      if (waiting->user == nullptr) {
        Close(std::move(waiting->channel));
        waiting_.erase(waiting);
      } else {
        requesting_.splice(requesting_.end(), waiting_, waiting);
        waiting->channel->SetUser(waiting->user);
        waiting->user->OnRequested();
      }
    }
  }
}

void ChannelBroker::StepRequesting() {
  for (auto next = requesting_.begin(); next != requesting_.end();) {
    const auto requesting = next++;
    const Channel::Progress progress = requesting->channel->Request(requesting->command_line);
    const bool has_reply = progress != Channel::Progress::kAgain;
    if (!has_reply && !requesting->channel->peer_closed()) continue;
    ChannelRequest ended = std::move(*requesting);
    requesting_.erase(requesting);
    if (progress == Channel::Progress::kDone && ended.user != nullptr) {
      ended.user->OnGranted(std::move(ended.channel));
      continue;
    }
    if (progress == Channel::Progress::kDone) ended.channel->SendEndOfFile();
    Close(std::move(ended.channel));
    if (ended.user != nullptr) {
      ended.user->OnRefused(Refusal(ended.command_line.empty(), has_reply), !has_reply);
    }
  }
}

std::size_t ChannelBroker::opening() const {
  return static_cast<std::size_t>(
      std::count_if(waiting_.begin(), waiting_.end(),
                    [](const ChannelRequest& waiting) { return !!waiting.channel; }));
}

bool ChannelBroker::MayOpen(const ChannelRequest& request, TimePoint now) const {
  if (open_ + opening() < limit_) return MayTakeFree(request);
  // Above the number of channels that is known to work, try one at a time.
  return opening() == 0 && now >= retry_at_;
}

void ChannelBroker::StepWaiting(TimePoint now) {
  bool may_open = true;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (waiting->channel || FailIfHopeless(waiting, now)) continue;
    may_open = may_open && MayOpen(*waiting, now);
    if (may_open) {
      waiting->channel = std::make_unique<Channel>(session_);
      // Sends the request; a later step checks for the reply.
      may_open = waiting->channel->Open() != Channel::Progress::kRefused;
    } else if (!std::exchange(waiting->delayed, true)) {
      waiting->user->OnDelayed();
    }
  }
  // Nothing is sent for a process that may not take a free channel: do not step at once again.
  const bool has_sent = opening() > 0 || waiting_.empty();
  if (!has_sent && retry_at_ <= now) retry_at_ = now + kMaxPause;
}

bool ChannelBroker::FailIfHopeless(std::list<ChannelRequest>::iterator waiting, TimePoint now) {
  TimePoint& since = waiting->hopeless_since;
  const std::size_t needed = waiting->user->needed_channels();
  since = limit_ < needed ? std::min(since, now) : TimePoint::max();
  if (since == TimePoint::max() || now - since < kRefusalTimeout) return false;
  ChannelUser& user = *waiting->user;
  waiting_.erase(waiting);
  user.OnRefused(
      support::Format("the guest's sshd allows too few channels at once: {}, and this needs {}. "
                      "Set MaxSessions in the guest's sshd_config to 10, "
                      "or remove it (the default is 10), and restart the instance",
                      limit_, needed),
      false);
  return true;
}

}  // namespace ssh
