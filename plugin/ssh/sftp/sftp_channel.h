#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ssh/channel_broker.h"
#include "ssh/sftp/burst.h"
#include "ssh/sftp/sftp_client.h"

namespace ssh {

inline constexpr const char* kSftpSilent = "the guest's SFTP server does not answer";

/// An SFTP server on a channel of its own. Runs any number of bursts (requests sent together) at
/// once. For the session's thread only.
class SftpChannel final : public ChannelUser {
 public:
  /// The server hangs if it owes a reply and has been silent for this long.
  static constexpr auto kMaxSilence = std::chrono::seconds(5);

  /// A burst that times out closes the channel if the server has been silent for this long.
  static constexpr auto kMinSilence = std::chrono::seconds(1);

  /// Most bytes accepted before the reply to the request for SFTP; some arrive with it.
  static constexpr std::size_t kMaxBeforeReply = kMaxSftpPacket;

  /// Requests a channel. `number` goes into the handles.
  SftpChannel(ChannelBroker& broker, std::uint64_t number) : broker_(broker), number_(number) {
    broker_.Request(*this, "");
  }
  /// Closes it. No burst may run.
  ~SftpChannel() override { Close(); }
  SftpChannel(const SftpChannel&) = delete;
  SftpChannel& operator=(const SftpChannel&) = delete;

  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The server has introduced itself.
  [[nodiscard]] bool ready() const { return channel_ && client_->ready(); }
  [[nodiscard]] bool hangs() const { return hangs_; }
  [[nodiscard]] bool idle() const { return ready() && client_->pending() == 0; }
  /// It has failed every burst and takes no more.
  [[nodiscard]] bool closed() const { return closed_; }
  /// Why it was closed before its first burst; empty: it was used.
  [[nodiscard]] const std::string& start_failure() const { return start_failure_; }

  /// Once it is ready. Step sends the requests.
  void Begin(const std::shared_ptr<Burst>& burst);
  [[nodiscard]] bool Runs(const Burst& burst) const {
    return client_ && burst.client() == &*client_;
  }
  /// Once it is ready.
  void CloseHandle(const guest::Handle& handle) { client_->Close(handle, support::Clock::now()); }
  /// After a time-out.
  void GiveUpIfSilent();
  /// Closes the channel and fails every burst.
  void GiveUp(const std::string& reason);

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);

  void OnRequested() override { requested_at_ = support::Clock::now(); }
  void OnGranted(std::unique_ptr<Channel> channel) override;
  void OnRefused(const std::string& text, bool /*may_have_run*/) override { GiveUp(text); }
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override {
    if (!is_standard_error) inbox_ += bytes;
  }

 private:
  void ReceiveInbox(TimePoint now);
  void CheckEnd();
  void Close();

  ChannelBroker& broker_;
  const std::uint64_t number_;
  TimePoint requested_at_ = TimePoint::max();
  std::unique_ptr<Channel> channel_;  // null until it is granted, and when closed
  std::optional<SftpClient> client_;  // since it was granted
  std::string inbox_;                 // filled by libssh's callback, read by Step
  std::string start_failure_;
  bool closed_ = false;
  bool was_used_ = false;
  bool hangs_ = false;
};

}  // namespace ssh
