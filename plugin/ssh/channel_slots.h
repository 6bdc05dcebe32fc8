#pragma once

#include <cstddef>
#include <limits>

#include "support/context.h"

namespace ssh {

/// How many channels the guest's sshd lets us have. Nothing announces the limit (MaxSessions, 10 by
/// default): it is learned from refusals. A slot comes back when its channel is closed and its
/// process has ended; the second is not announced either, so a refused opener tries again after a
/// pause that grows from kFirstPause to kLongestPause, and at once when a channel of ours closes.
///
/// Commands that may run for ever must not take all of it: they leave kReserved channels, one for
/// SFTP and one for a short command, where the limit allows for that. Until a refusal has shown the
/// limit it is taken for sshd's usual one.
///
/// Not thread-safe; belongs to the thread that owns the session.
class ChannelSlots {
 public:
  static constexpr auto kFirstPause = std::chrono::milliseconds(4);
  static constexpr auto kLongestPause = std::chrono::milliseconds(1000);

  static constexpr std::size_t kUsualLimit = 10;
  static constexpr std::size_t kReserved = 2;

  using TimePoint = support::Clock::time_point;

  /// Whether to send another channel request now.
  [[nodiscard]] bool MayOpen(TimePoint now) const;

  /// When to ask again where MayOpen says no for a reason that time cures.
  [[nodiscard]] TimePoint RetryAt() const;

  void OnRequestSent() { ++opening_; }
  void OnOpened();
  void OnRefused(TimePoint now);
  /// The peer has closed a channel that was open.
  void OnClosed(TimePoint now);

  /// How many open-ended commands may have a channel at once; at least one.
  [[nodiscard]] std::size_t OpenEndedLimit() const;

  /// Channels that are open as far as we know.
  [[nodiscard]] std::size_t open() const { return open_; }

 private:
  static constexpr std::size_t kUnknownLimit = std::numeric_limits<std::size_t>::max();

  std::size_t open_ = 0;
  std::size_t opening_ = 0;
  std::size_t most_open_ = 0;
  std::size_t limit_ = kUnknownLimit;  // until the first refusal
  bool refused_ = false;
  TimePoint retry_at_ = TimePoint::min();
  support::Clock::duration pause_ = kFirstPause;
};

}  // namespace ssh
