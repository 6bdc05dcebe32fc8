// SPDX-License-Identifier: Apache-2.0
#include "ssh/channel_broker.h"

#include <algorithm>
#include <utility>

#include "shell/process.h"
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

ChannelBroker::ChannelBroker(ssh_session session, std::function<bool()> make_room,
                             std::function<std::string()> running)
    : session_(session), make_room_(std::move(make_room)), running_(std::move(running)) {}

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
  StepClosing();
  StepOpening(now);
  StepRequesting();
  StepWaiting(now);
  return waiting_.empty() ? TimePoint::max() : now + kPause;
}

void ChannelBroker::StepClosing() {
  open_ -= std::erase_if(closing_, [](const auto& channel) { return channel->Close(); });
}

// A request whose user has gone still gets its reply: the channel that comes then must be closed,
// as one that is only forgotten keeps its slot.
void ChannelBroker::StepOpening(TimePoint now) {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (!waiting->channel) continue;
    const Channel::Progress progress = waiting->channel->Open();
    if (progress == Channel::Progress::kRefused) {
      OnRefusal(waiting, now);
    } else if (progress == Channel::Progress::kDone) {
      ++open_;
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

void ChannelBroker::OnRefusal(std::list<ChannelRequest>::iterator waiting, TimePoint now) {
  waiting->channel.reset();
  waiting->refused_since = std::min(waiting->refused_since, now);
  retry_at_ = now + kPause;
  ChannelUser* const user = waiting->user;
  if (user != nullptr && now - waiting->refused_since < kRefusalTimeout) return;
  waiting_.erase(waiting);
  if (user == nullptr) return;
  user->OnRefused(
      support::Format("the guest's sshd refuses another channel, though of OpenSSH's {} only {} "
                      "are in use ({}). Remove MaxSessions from the guest's sshd_config, or set it "
                      "to {}, and restart the instance",
                      shell::kMaxChannels, open_, running_(), shell::kMaxChannels),
      false);
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

bool ChannelBroker::MayOpen(const ChannelRequest& request, TimePoint now) {
  if (now < retry_at_) return false;
  if (request.user->is_long_running() && !allows_processes_) return false;
  if (open_ + opening() < shell::kMaxChannels) return true;
  if (now >= room_at_ && make_room_()) room_at_ = now + kRoomPause;
  return false;
}

void ChannelBroker::StepWaiting(TimePoint now) {
  bool may_open = true;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (waiting->channel) continue;
    may_open = may_open && MayOpen(*waiting, now);
    if (may_open) {
      waiting->channel = std::make_unique<Channel>(session_);
      // Sends the request; a later step checks for the reply.
      may_open = waiting->channel->Open() != Channel::Progress::kRefused;
    } else if (!std::exchange(waiting->delayed, true)) {
      waiting->user->OnDelayed();
    }
  }
}

}  // namespace ssh
