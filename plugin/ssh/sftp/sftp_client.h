#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "ssh/completion.h"
#include "ssh/sftp/sftp_codec.h"

namespace ssh {

class SftpClient;

/// The requests of one guest::Guest::RoundTrip. The caller creates the burst, waits on
/// `completion()` and calls TakeReplies; everything else is for the session's thread. Shared
/// pointers keep it alive for late replies, so that files which these open get closed.
///
/// A long Read or Write is split as the server's limits require.
class Burst final : public std::enable_shared_from_this<Burst> {
 public:
  explicit Burst(std::vector<guest::Request> requests) : requests_(std::move(requests)) {}

  Completion& completion() { return completion_; }
  /// Call it after the completion has finished without failure.
  std::vector<guest::Reply> TakeReplies();

  /// The channel number of its handles; 0 if it has none. Handles in a burst share one channel.
  [[nodiscard]] std::uint64_t handle_channel() const;
  /// It may change the guest's files.
  [[nodiscard]] bool changes_guest() const;
  /// Operation and path of its first request, for messages.
  [[nodiscard]] std::string Describe() const;

  /// Sends all requests.
  void Begin(SftpClient& client, TimePoint now);
  /// Finishes without waiting for the replies, and closes what it opens.
  void Fail(std::exception_ptr failure);
  /// The same if the connection or the server is lost.
  void FailLost(const std::string& reason);
  [[nodiscard]] bool finished() const { return finished_; }

  /// Where it was begun, or null.
  [[nodiscard]] const SftpClient* client() const { return client_; }

  // The client calls these.
  [[nodiscard]] const guest::Request& request(std::size_t piece) const {
    return pieces_[piece].request;
  }
  void OnReply(std::size_t piece, guest::Reply&& reply);
  /// The request may have run, but there will be no reply.
  void OnLost(std::size_t piece);

 private:
  /// A request as it is sent: of a long Read or Write, a part.
  struct Piece {
    std::size_t index;  ///< in requests_
    guest::Request request;
    guest::Reply reply = {};
  };

  void Split(std::size_t index, std::size_t max_data);
  void CloseHandle(const guest::Reply& reply);
  void FinishWhenComplete();

  const std::vector<guest::Request> requests_;
  SftpClient* client_ = nullptr;  ///< since Begin
  std::vector<Piece> pieces_;
  std::size_t pending_ = 0;  ///< pieces without a reply
  Completion completion_;
  bool may_have_changed_ = false;  ///< the guest's files
  bool finished_ = false;
};

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
  [[nodiscard]] std::string_view output() const { return output_; }
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
  std::uint64_t consumed_ = 0;  ///< bytes in all
  std::uint32_t next_id_ = 1;
  std::size_t max_data_;
  std::map<std::uint32_t, Pending> pending_;  // by id: the oldest first
};

}  // namespace ssh
