#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ssh/sftp/sftp_channel.h"

namespace ssh {

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
