// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
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
/// Opens at most shell::kMaxChannels, OpenSSH's default. sshd may still refuse one for a moment,
/// while it tidies up after another: a refused request is retried until kRefusalTimeout.
class ChannelBroker {
 public:
  /// Between two attempts to open a channel after a refusal, and two looks for a free one.
  static constexpr auto kPause = std::chrono::milliseconds(50);

  /// Between two calls of `make_room` that close a channel, unless one was opened meanwhile: the
  /// guest needs a moment to free the slot.
  static constexpr auto kRoomPause = std::chrono::milliseconds(500);

  static constexpr auto kRefusalTimeout = std::chrono::seconds(5);

  /// `make_room` closes an idle channel; it returns false if there is none. `running` says what
  /// uses the channels.
  ChannelBroker(ssh_session session, std::function<bool()> make_room,
                std::function<std::string()> running);

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
    TimePoint refused_since = TimePoint::max();
  };

  void StepClosing();
  void StepOpening(TimePoint now);
  void StepRequesting();
  void StepWaiting(TimePoint now);
  void OnRefusal(std::list<ChannelRequest>::iterator waiting, TimePoint now);
  [[nodiscard]] bool MayOpen(const ChannelRequest& waiting, TimePoint now);
  /// How many of those that wait are being opened.
  [[nodiscard]] std::size_t opening() const;

  ssh_session session_;
  std::function<bool()> make_room_;
  std::function<std::string()> running_;
  std::list<ChannelRequest> waiting_;     ///< for a channel, in order
  std::list<ChannelRequest> requesting_;  ///< the channel is open
  std::vector<std::unique_ptr<Channel>> closing_;
  std::size_t open_ = 0;
  TimePoint retry_at_ = TimePoint::min();
  TimePoint room_at_ = TimePoint::min();
  bool allows_processes_ = true;
};

}  // namespace ssh
