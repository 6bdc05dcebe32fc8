#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "ssh/sftp/sftp_codec.h"
#include "support/context.h"

namespace ssh {

/// There will be no reply to the request.
struct SftpLost {
  std::string reason;
  bool may_have_run = false;
};
using SftpReply = std::variant<guest::Reply, SftpLost>;

/// An SFTP client without I/O: consumes and produces bytes, and matches replies to requests by id.
/// One thread. Handlers are called from Receive and Fail, and from Send if it rejects the request;
/// they may send further requests.
class SftpClient {
 public:
  using TimePoint = support::Clock::time_point;
  /// Called exactly once, unless this object is destroyed first.
  using Handler = std::function<void(SftpReply&&)>;

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

  /// Two kinds of requests fail at once: one that needs an extension which the server does not
  /// offer, and one longer than kMaxSftpPacket (a long path), because OpenSSH's server would
  /// exit.
  void Send(const guest::Request& request, TimePoint now, Handler handler);

  /// Finishes every pending request with SftpLost.
  void Fail(const std::string& reason);

  /// Since when a reply is pending and the server has been silent; max() if none is pending.
  [[nodiscard]] TimePoint silent_since() const {
    return ready() && pending_.empty() ? TimePoint::max() : owing_since_;
  }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

  /// Ids: of the next request, and of the oldest one that is pending.
  [[nodiscard]] std::uint32_t next_request() const { return next_id_; }
  [[nodiscard]] std::uint32_t oldest_request() const {
    return pending_.empty() ? next_id_ : pending_.begin()->first;
  }

  /// Most bytes of data in one READ or WRITE.
  [[nodiscard]] std::size_t max_data() const { return max_data_; }

 private:
  enum class State { kStarting, kRequestingLimits, kReady };
  struct Pending {
    guest::Request request;
    Handler handler;
    std::uint64_t output_end;  ///< position in the stream of all output
  };

  void OnVersion(SftpVersion version);
  void OnPacket(const SftpPacket& packet);
  void OnLimits(const SftpPacket& packet);
  [[nodiscard]] bool Offers(std::string_view extension) const {
    return version_.extensions.find(extension) != version_.extensions.end();
  }

  std::uint64_t channel_;
  State state_ = State::kStarting;
  TimePoint owing_since_;  ///< the last data, or the first pending request if later
  SftpDecoder decoder_;
  SftpVersion version_;
  std::string output_;
  std::size_t output_position_ = 0;
  std::uint64_t output_end_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint32_t next_id_ = 1;
  std::size_t max_data_;
  std::map<std::uint32_t, Pending> pending_;  // by id: the oldest first
};

}  // namespace ssh
