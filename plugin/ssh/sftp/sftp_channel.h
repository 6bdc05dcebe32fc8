#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ssh/channel_broker.h"
#include "ssh/sftp/burst.h"

namespace ssh {

inline constexpr const char* kSftpSilent = "the guest's SFTP server does not answer";

/// An SFTP server on a channel of its own. Runs any number of bursts (requests sent together) at
/// once. For the session's thread only.
class SftpChannel final : public ChannelUser {
 public:
  using TimePoint = support::Clock::time_point;

  /// The server hangs if it owes a reply and has been silent for this long.
  static constexpr auto kMaxSilence = std::chrono::seconds(5);

  /// A burst that times out closes the channel if the server has been silent for this long.
  static constexpr auto kMinSilence = std::chrono::seconds(1);

  /// Most bytes accepted before the subsystem request is answered; some arrive with the answer.
  static constexpr std::size_t kMaxBeforeReply = kMaxSftpPacket;

  /// Requests a channel. `number` goes into the handles.
  SftpChannel(ChannelBroker& broker, std::uint64_t number) : broker_(broker), number_(number) {
    broker_.Request(*this);
  }
  /// Closes it. No burst may run.
  ~SftpChannel() override;
  SftpChannel(const SftpChannel&) = delete;
  SftpChannel& operator=(const SftpChannel&) = delete;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The server has introduced itself.
  [[nodiscard]] bool ready() const { return state_ == State::kConversing && client_->ready(); }
  [[nodiscard]] bool hangs() const { return hangs_; }
  [[nodiscard]] bool idle() const { return ready() && client_->pending() == 0; }
  /// It has failed every burst and takes no more.
  [[nodiscard]] bool closed() const { return state_ == State::kClosed; }
  /// Why it was closed before its first burst; empty: it was used.
  [[nodiscard]] const std::string& start_failure() const { return start_failure_; }

  /// Once it is ready. Step sends the requests.
  void Begin(const std::shared_ptr<Burst>& burst);
  /// Forgets a stopped burst. False if it is not one of this channel's.
  bool Forget(const Burst& burst);
  /// After a time-out.
  void GiveUpIfSilent();
  /// Closes a file without waiting.
  void CloseHandle(const guest::Handle& handle);

  void Step(TimePoint now);
  [[nodiscard]] TimePoint NextStep() const;

  /// Call it when the session is lost.
  void Lose(const std::string& text);

  void OnChannelOpen(std::unique_ptr<Channel> channel) override;
  void OnChannelImpossible(const std::string& text) override;
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override;

 private:
  enum class State { kWaiting, kRequesting, kConversing, kClosed };

  void StepRequest();
  void StepConversation(TimePoint now);
  void ReceiveInbox(TimePoint now);
  void CheckEnd();
  void CheckSilence(TimePoint now);
  /// Closes the channel and fails every burst.
  void GiveUp(const std::string& reason);

  ChannelBroker& broker_;
  const std::uint64_t number_;
  State state_ = State::kWaiting;
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<SftpClient> client_;
  std::string inbox_;  // filled by libssh's callback, read by Step
  TimePoint opened_at_;
  std::vector<std::shared_ptr<Burst>> running_;
  std::string start_failure_;
  bool was_used_ = false;
  bool hangs_ = false;
  bool more_output_ = false;
};

}  // namespace ssh
