#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ssh/sftp/burst.h"
#include "ssh/sftp/sftp_codec.h"

namespace ssh {

/// An SFTP client without I/O: consumes and produces bytes, and matches replies to requests by id.
/// For the session's thread only.
class SftpClient {
 public:
  /// Sends INIT. `channel` is stored in the handles that it opens.
  SftpClient(TimePoint now, std::uint64_t channel);

  /// True once the server has sent VERSION, and its limits if it offers limits@openssh.com.
  [[nodiscard]] bool ready() const { return state_ == State::kReady; }

  /// After it throws SftpProtocolError, call Fail.
  void Receive(std::string_view bytes, TimePoint now);

  /// The bytes to send; then call Consumed with the number of bytes sent.
  [[nodiscard]] std::string_view output() const {
    return std::string_view(output_).substr(output_position_);
  }
  void Consumed(std::size_t count);

  /// Sends a request of the burst. Two kinds of requests fail at once: one that needs an extension
  /// which the server does not offer, and one longer than kMaxSftpPacket (a long path), because
  /// OpenSSH's server would exit.
  void Send(std::shared_ptr<Burst> burst, std::size_t piece, TimePoint now);

  /// Closes a handle without waiting.
  void Close(const guest::Handle& handle, TimePoint now);

  /// Fails all bursts: there will be no more replies.
  void Fail(const std::string& reason);

  /// Fails the bursts that wait for the one with the oldest request, and change nothing. Returns
  /// false if no burst is left.
  bool FailBehindOldest(const std::string& reason);

  /// Since when a reply is pending and the server has been silent; max() if none is pending.
  [[nodiscard]] TimePoint silent_since() const {
    return ready() && pending_.empty() ? TimePoint::max() : owing_since_;
  }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

  /// Most bytes of data in one READ or WRITE.
  [[nodiscard]] std::size_t max_data() const { return max_data_; }

 private:
  enum class State { kStarting, kRequestingLimits, kReady };
  struct Pending {
    std::shared_ptr<Burst> burst;
    std::size_t piece;
    std::uint64_t output_end;  ///< position in the stream of all output
  };

  void OnPacket(const SftpPacket& packet);

  std::uint64_t channel_;
  State state_ = State::kStarting;
  TimePoint owing_since_;  ///< the last data, or the first pending request if later
  SftpDecoder decoder_;
  SftpExtensions extensions_;
  std::string output_;
  std::size_t output_position_ = 0;
  std::uint64_t consumed_ = 0;  ///< bytes in all
  std::uint32_t next_id_ = 1;
  std::size_t max_data_;
  std::map<std::uint32_t, Pending> pending_;  // by id: the oldest first
};

}  // namespace ssh
