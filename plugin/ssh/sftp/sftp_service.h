#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ssh/channel_broker.h"
#include "ssh/sftp/burst.h"

namespace ssh {

/// The file side of a session: opens an SFTP channel when the first operation comes, carries out
/// any number of them at once, and gives a channel up whose server does not answer, so that the
/// next operation gets a new one. Belongs to the thread that owns the session.
class SftpService final : public ChannelUser, public ChannelEvents {
 public:
  using TimePoint = support::Clock::time_point;

  /// A caller's deadline that passes is blamed on the server only after it has been silent for so
  /// long.
  static constexpr auto kShortestSilence = std::chrono::seconds(1);

  /// Bytes that a channel may bring before its request for SFTP is answered: some may come with the
  /// answer.
  static constexpr std::size_t kMostBeforeAnswer = kMaximumSftpPacket;

  /// Where no channel is free somebody is asked for one so often; after one was given, which is
  /// free only once the guest has ended what used it, and may go to another, less often.
  static constexpr auto kRoomInterval = std::chrono::milliseconds(50);
  static constexpr auto kNextRoomInterval = std::chrono::seconds(2);

  /// `make_room` closes a channel that is not needed now; false where there is none.
  SftpService(ChannelBroker& broker, support::Clock::duration operation_timeout,
              std::function<bool()> make_room);

  void Submit(std::shared_ptr<Burst> burst);
  /// Finishes the burst with support::Stopped. What the guest was already asked runs on.
  void Withdraw(Burst& burst, support::StopReason reason);
  /// Closes a file without waiting.
  void CloseHandle(const guest::Handle& handle);

  void Step(TimePoint now);
  [[nodiscard]] TimePoint NextStep() const;

  /// The session died.
  void Lose(const std::string& text);

  void OnChannelOpen(std::unique_ptr<Channel> channel) override;
  void OnChannelDelayed() override { room_at_ = TimePoint::min(); }
  void OnChannelImpossible(const std::string& text) override;
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override;
  void OnExitStatus(int) noexcept override {}
  void OnExitSignal(std::string_view) noexcept override {}

 private:
  enum class State { kClosed, kWaiting, kRequesting, kConversing };

  void StepRequest(TimePoint now);
  void StepConversation(TimePoint now);
  void ReceiveInbox(TimePoint now);
  void Begin(const std::shared_ptr<Burst>& burst, TimePoint now);
  void ForgetFinished();
  void SendOutput(TimePoint now);
  void CheckEnd(TimePoint now);
  /// Fails what runs on the channel; what waits fails too unless the server had begun to serve.
  void GiveUp(const std::string& reason);
  template <typename Error>
  void FailWaiting(const std::string& reason);
  void CloseChannel();

  ChannelBroker& broker_;
  support::Clock::duration operation_timeout_;
  State state_ = State::kClosed;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<SftpClient> client_;
  std::uint64_t channel_number_ = 1;
  std::string inbox_;  // filled by libssh's callback, read by Step
  TimePoint request_deadline_ = TimePoint::max();
  std::function<bool()> make_room_;
  TimePoint room_at_ = TimePoint::max();  // when to ask for a channel
  std::deque<std::shared_ptr<Burst>> waiting_;
  std::vector<std::shared_ptr<Burst>> active_;
  bool served_first_ = false;  // what waited for this channel has begun
  bool more_output_ = false;
};

}  // namespace ssh
