#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "ssh/completion.h"

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

}  // namespace ssh
