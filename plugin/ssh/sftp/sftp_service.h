#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ssh/channel_broker.h"
#include "ssh/sftp/sftp_client.h"

namespace ssh {

/// An SFTP server on a channel of its own. Runs any number of bursts (requests sent together) at
/// once. For the session's thread only.
class SftpChannel final : public ChannelUser {
 public:
  /// The server hangs if it owes a reply and has been silent for this long.
  static constexpr auto kMaxSilence = std::chrono::seconds(5);

  /// A burst that times out closes the channel if the server has been silent for this long.
  static constexpr auto kMinSilence = std::chrono::seconds(1);

  /// Requests a channel. `number` goes into the handles.
  SftpChannel(ChannelBroker& broker, std::uint64_t number) : broker_(broker), number_(number) {
    broker_.Request(*this, "");
  }
  /// Closes it. No burst may run.
  ~SftpChannel() override { Close(); }

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
  void Begin(Burst& burst);
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

  void OnRequested() override { client_.emplace(support::Clock::now(), number_); }
  void OnGranted(std::unique_ptr<Channel> channel) override { channel_ = std::move(channel); }
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
  std::unique_ptr<Channel> channel_;  // null until it is granted, and when closed
  std::optional<SftpClient> client_;  // since it was requested
  std::string inbox_;                 // filled by libssh's callback, read by Step
  std::string start_failure_;
  bool closed_ = false;
  bool was_used_ = false;
  bool hangs_ = false;
};

/// SFTP for one session. For the session's thread only.
///
/// A server runs its requests one after another, so one that hangs (an OPEN of a FIFO, a dead
/// mount) holds up all others. Then a second channel is opened: it gets all new requests, and those
/// behind the hung one that change nothing are failed, to be repeated there. Each hung request
/// keeps waiting until its own deadline, and so does every change behind it, because the server may
/// yet make it. Once the first server answers again or is given up, one channel is closed.
class SftpService {
 public:
  static constexpr std::size_t kMaxChannels = 2;

  explicit SftpService(ChannelBroker& broker) : broker_(broker) {}

  /// A burst with handles runs on their channel.
  void Submit(std::shared_ptr<Burst> burst);
  /// Finishes the burst with support::Stopped. Requests already sent are not cancelled.
  void Withdraw(Burst& burst, support::StopReason reason);
  /// Closes a file without waiting.
  void CloseHandle(const guest::Handle& handle);

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);

  /// The channels that it uses or will need: 1 or 2.
  [[nodiscard]] std::size_t channels() const { return channels_.size() < 2 ? 1 : 2; }

  /// Call it when the session is lost.
  void Lose(const std::string& text);

 private:
  [[nodiscard]] SftpChannel* Find(std::uint64_t number) const;
  /// The newest channel that is ready and does not hang, or null.
  [[nodiscard]] SftpChannel* Usable() const;
  /// Begins what waits, or requests a channel for it; then it returns true.
  bool StepWaiting();
  void RemoveClosed();
  void CloseOneOfTwo();

  ChannelBroker& broker_;
  std::vector<std::unique_ptr<SftpChannel>> channels_;  // the newest last
  std::vector<std::shared_ptr<Burst>> waiting_;         // for a channel
  std::uint64_t last_number_ = 0;
};

}  // namespace ssh
