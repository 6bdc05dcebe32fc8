#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ssh/sftp/sftp_codec.h"
#include "support/context.h"

namespace ssh {

/// One conversation with an SFTP server as a state machine without a channel: bytes in, bytes out,
/// requests matched to replies by their ids. Belongs to one thread; handlers are called from
/// Receive and Fail, and from Send where it refuses; they may send further requests.
class SftpClient {
 public:
  using TimePoint = support::Clock::time_point;
  /// Called exactly once a request, unless this object is destroyed first.
  using Handler = std::function<void(SftpReply&&)>;

  /// Unanswered requests at once; a further one is answered with SftpLost, before Send returns.
  /// Except a CLOSE, so that nothing stays open: there are no more of them than of what was opened.
  static constexpr std::size_t kMaximumPending = 4096;

  /// Sends INIT. `silence` is how long the server may stay silent while it owes a reply.
  SftpClient(support::Clock::duration silence, TimePoint now);

  /// True once the server has introduced itself (and answered limits@openssh.com, where offered).
  [[nodiscard]] bool ready() const { return state_ == State::kReady; }

  /// Throws SftpProtocolError; the conversation is then over and Fail has to be called.
  void Receive(std::string_view bytes, TimePoint now);

  /// What to send, oldest byte first; then Consumed with as many bytes as were sent.
  [[nodiscard]] std::string_view output() const {
    return std::string_view(output_).substr(output_position_);
  }
  void Consumed(std::size_t count, TimePoint now);

  /// A request of more than kMaximumSftpPacket (its path is too long) is answered at once with
  /// kFailure: OpenSSH's server would end itself, and with it whatever else is under way.
  void Send(const SftpRequest& request, TimePoint now, Handler handler);

  /// Answers every pending request with SftpLost, in the order they were made.
  void Fail(const std::string& reason);

  /// When to give the server up unless something moves before; max() while it owes nothing.
  [[nodiscard]] TimePoint SilenceEnds() const;

  /// Since when the server has owed an answer without sending anything; max() while it owes none.
  [[nodiscard]] TimePoint silent_since() const {
    return pending_.empty() ? TimePoint::max() : owing_since_;
  }

  /// When the server last sent anything.
  [[nodiscard]] TimePoint last_received() const { return last_received_; }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

  /// Handles that the server holds or was asked for, less those it was asked to close.
  [[nodiscard]] std::size_t open_handles() const { return open_handles_; }

  [[nodiscard]] bool Offers(std::string_view extension) const {
    return version_.extensions.find(extension) != version_.extensions.end();
  }
  [[nodiscard]] std::uint32_t maximum_read() const { return maximum_read_; }
  [[nodiscard]] std::uint32_t maximum_write() const { return maximum_write_; }

  /// A server that answered a long READ with less than asked for is asked for that much from now.
  void LearnMaximumRead(std::uint32_t length) { maximum_read_ = length; }

 private:
  enum class State { kStarting, kAskingLimits, kReady };
  struct Pending {
    Handler handler;
    std::uint64_t output_end;  ///< position in the stream of all output
    bool opens = false;        ///< is answered with a handle
  };

  void OnVersion(SftpVersion version, TimePoint now);
  void OnLimits(const SftpReply& reply);

  State state_ = State::kStarting;
  support::Clock::duration silence_;
  TimePoint last_received_;
  TimePoint last_moved_;   ///< last received, sent, or begun to owe
  TimePoint owing_since_;  ///< last received, or begun to owe
  SftpDecoder decoder_;
  SftpVersion version_;
  std::string output_;
  std::size_t output_position_ = 0;
  std::uint64_t output_end_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint32_t next_id_ = 1;
  std::uint32_t maximum_read_;
  std::uint32_t maximum_write_;
  std::unordered_map<std::uint32_t, Pending> pending_;
  std::size_t open_handles_ = 0;
};

}  // namespace ssh
