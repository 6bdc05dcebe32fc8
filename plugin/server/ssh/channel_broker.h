// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "ssh/channel.h"
#include "ssh/completion.h"

namespace ssh {

/// Opens channels first come, first served, but long-running processes last, requests what runs on
/// them, and closes them. For the session's thread only.
///
/// sshd does not announce its limit (MaxSessions, 10 by default), so the broker learns it from
/// refusals. A request that needs more is an error. sshd frees a slot when the channel is closed
/// and its process has exited, but does not announce that either. So a refused request is retried
/// after a growing pause, and when a channel closes. Each refusal makes room for it.
class ChannelBroker {
 public:
  static constexpr auto kFirstPause = std::chrono::milliseconds(4);
  static constexpr auto kMaxPause = std::chrono::milliseconds(250);

  /// Between two calls of `make_room` that close a channel, unless one was opened meanwhile: the
  /// guest needs a moment to free the slot.
  static constexpr auto kRoomPause = std::chrono::milliseconds(500);

  /// How long a request waits while sshd seems to allow fewer channels than it needs.
  static constexpr auto kRefusalTimeout = std::chrono::seconds(5);

  /// `make_room` closes an idle channel; it returns false if there is none.
  ChannelBroker(ssh_session session, std::function<bool()> make_room);

  /// `command_line` is run on the channel; empty: SFTP.
  void Request(ChannelUser& user, std::string command_line);
  /// Makes no more calls to the user. What the guest may have started is closed when sshd replies:
  /// earlier, a process would miss the end of its input.
  void Cancel(ChannelUser& user);
  /// Closes the channel, and keeps it until the guest has closed it too.
  void Close(std::unique_ptr<Channel> channel);

  /// Whether a long-running process may take a free channel: shells may still hold those that are
  /// its own.
  void AllowProcesses(bool allow) { allows_processes_ = allow; }

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);

 private:
  struct ChannelRequest {
    ChannelUser* user;  ///< null once withdrawn; never while it has no channel
    std::string command_line;
    std::unique_ptr<Channel> channel = nullptr;  ///< since sshd was requested to open it
    bool delayed = false;
    TimePoint hopeless_since = TimePoint::max();
  };

  void StepClosing(TimePoint now);
  void StepOpening(TimePoint now);
  void StepRequesting();
  void StepWaiting(TimePoint now);
  bool FailIfHopeless(std::list<ChannelRequest>::iterator waiting, TimePoint now);
  /// A process must not take a channel that files and shells need.
  [[nodiscard]] bool MayTakeFree(const ChannelRequest& waiting) const {
    return !waiting.user->is_long_running() ||
           (allows_processes_ && waiting.user->needed_channels() <= limit_);
  }
  [[nodiscard]] bool MayOpen(const ChannelRequest& waiting, TimePoint now) const;
  /// How many of those that wait are being opened.
  [[nodiscard]] std::size_t opening() const;

  ssh_session session_;
  std::function<bool()> make_room_;
  std::list<ChannelRequest> waiting_;     ///< for a channel, in order
  std::list<ChannelRequest> requesting_;  ///< the channel is open
  std::vector<std::unique_ptr<Channel>> closing_;
  std::size_t open_ = 0;
  std::size_t limit_ = std::numeric_limits<std::size_t>::max();  ///< until the first refusal
  TimePoint retry_at_ = TimePoint::min();
  support::Clock::duration pause_ = kFirstPause;
  TimePoint room_at_ = TimePoint::min();
  bool allows_processes_ = true;
};

}  // namespace ssh
