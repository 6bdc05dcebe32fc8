#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ssh/channel_broker.h"
#include "ssh/sftp/burst.h"

namespace ssh {

/// SFTP for one session. Opens a channel for the first burst (requests sent together), runs any
/// number of bursts at once, and replaces the channel if a burst times out because the server is
/// stuck. For the session's thread only.
class SftpService final : public ChannelUser {
 public:
  using TimePoint = support::Clock::time_point;

  /// A burst that times out closes the channel if the guest has sent nothing for this long.
  static constexpr auto kShortestSilence = std::chrono::seconds(1);

  /// Most bytes accepted before the subsystem request is answered; some arrive with the answer.
  static constexpr std::size_t kMostBeforeAnswer = kMaximumSftpPacket;

  explicit SftpService(ChannelBroker& broker) : broker_(broker) {}

  void Submit(std::shared_ptr<Burst> burst);
  /// Finishes the burst with support::Stopped. Requests already sent are not cancelled.
  void Withdraw(Burst& burst, support::StopReason reason);
  /// Closes a file without waiting.
  void CloseHandle(const guest::Handle& handle);

  void Step(TimePoint now);
  [[nodiscard]] TimePoint NextStep() const {
    return more_output_ ? TimePoint::min() : TimePoint::max();
  }

  /// Call it when the session is lost.
  void Lose(const std::string& text);

  void OnChannelOpen(std::unique_ptr<Channel> channel) override;
  void OnChannelImpossible(const std::string& text) override;
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override;

 private:
  enum class State { kClosed, kWaiting, kRequesting, kConversing };

  void StepRequest();
  void StepConversation(TimePoint now);
  void ReceiveInbox(TimePoint now);
  void CheckEnd();
  /// Closes the channel and fails every burst.
  void GiveUp(const std::string& reason);
  void FailWaiting(const std::string& reason);
  void CloseChannel();

  ChannelBroker& broker_;
  State state_ = State::kClosed;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<SftpClient> client_;
  std::uint64_t channel_number_ = 1;
  std::string inbox_;  // filled by libssh's callback, read by Step
  TimePoint opened_at_;
  std::vector<std::shared_ptr<Burst>> waiting_;
  bool more_output_ = false;
};

}  // namespace ssh
