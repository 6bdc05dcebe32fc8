#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>

#include "shell/process.h"
#include "ssh/channel.h"
#include "ssh/channel_slots.h"
#include "ssh/session.h"

namespace ssh {

/// Somebody who wants a channel: a command, or the SFTP service.
class ChannelUser {
 public:
  virtual ~ChannelUser() = default;
  [[nodiscard]] virtual shell::Turn turn() const { return shell::Turn::kInOrder; }
  virtual void OnChannelOpen(std::unique_ptr<Channel> channel) = 0;
  /// The guest's sshd has no channel to spare now; called at most once a request.
  virtual void OnChannelDelayed() = 0;
  /// The request is over. `text` says why.
  virtual void OnChannelImpossible(const std::string& text) = 0;
};

/// Opens channels in the order they were asked for (shell::Turn names the exception), as many as
/// the guest's sshd allows, and sees to it that each is closed in the end. Belongs to the thread
/// that owns the session.
class ChannelBroker {
 public:
  using TimePoint = support::Clock::time_point;

  /// How long refusals are taken for the slow end of earlier commands although at most one channel
  /// of ours is open. One alone (MaxSessions 1) is not enough: files and commands need one each.
  static constexpr auto kRefusalPatience = std::chrono::seconds(10);

  ChannelBroker(Session& session, support::Clock::duration open_timeout);

  void Request(ChannelUser& user);
  /// The user hears nothing more. A channel that opens all the same is closed.
  void Withdraw(ChannelUser& user);
  /// Closes the channel and keeps it until the guest has closed it too.
  void Retire(std::unique_ptr<Channel> channel);

  void Step(TimePoint now);
  /// When to call Step even if nothing happens on the session.
  [[nodiscard]] TimePoint NextStep() const;

 private:
  struct Waiting {
    ChannelUser* user;
    std::uint64_t turn;
    bool delayed;
  };
  struct Opening {
    std::unique_ptr<Channel> channel;
    Waiting request;  ///< `user` is null once withdrawn
    TimePoint deadline;
  };
  struct Closing {
    std::unique_ptr<Channel> channel;
    bool sent;
  };

  void StepClosing(TimePoint now);
  void StepOpening(TimePoint now);
  void StepWaiting(TimePoint now);
  void Enqueue(Waiting request);
  [[nodiscard]] bool LeavesRoom(const ChannelUser& user) const;

  Session& session_;
  support::Clock::duration open_timeout_;
  ChannelSlots slots_;
  std::uint64_t next_turn_ = 0;
  std::set<const Channel*> open_ended_;  // those of open-ended users, until they are closed
  std::list<Waiting> waiting_;           // by turn
  std::list<Opening> opening_;
  std::list<Closing> closing_;
  TimePoint refused_without_room_since_ = TimePoint::max();
};

}  // namespace ssh
