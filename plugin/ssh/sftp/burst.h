#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "ssh/completion.h"
#include "ssh/sftp/sftp_client.h"

namespace ssh {

/// Most bytes of a server's message that are quoted in an error.
inline constexpr std::size_t kMaximumServerText = 256;

/// The requests of one guest::Guest::RoundTrip. The caller creates the burst, waits on
/// `completion()` and calls TakeReplies; everything else is for the session's thread. Shared
/// pointers keep it alive for late replies, so that files which these open get closed.
///
/// A long request::Read or request::Write is split as the server's limits require.
class Burst final : public std::enable_shared_from_this<Burst> {
 public:
  using TimePoint = support::Clock::time_point;

  explicit Burst(const std::vector<guest::Request>& requests);

  Completion& completion() { return completion_; }
  /// Call it after the completion has finished without failure.
  std::vector<guest::Reply> TakeReplies();

  /// The channel number of its handles; 0 if it has none. Handles in a burst share one channel.
  [[nodiscard]] std::uint64_t handle_channel() const { return handle_channel_; }
  /// It may change the guest's files.
  [[nodiscard]] bool changes_guest() const;
  /// The id of the first request that Begin has sent.
  [[nodiscard]] std::uint32_t first_request() const { return first_request_; }
  /// Operation and path of its first request, for messages.
  [[nodiscard]] std::string Describe() const;

  /// Sends all requests. `channel` is stored in the handles that they open.
  void Begin(SftpClient& client, std::uint64_t channel, TimePoint now);
  /// Finishes without waiting for the replies.
  void Fail(std::exception_ptr failure);
  /// The same if the connection or the server is lost.
  void FailLost(const std::string& reason);
  [[nodiscard]] bool finished() const { return finished_; }
  /// The handles opened so far. The caller of Fail must close them.
  [[nodiscard]] std::vector<guest::Handle> Opened() const;

 private:
  struct Part {
    guest::Request request;
    SftpRequest whole;  ///< a long Read or Write is sent in pieces instead
    std::string path;   ///< for messages
    guest::Reply reply = {};
    std::size_t answers_left = 0;
    std::size_t piece = 0;                  ///< length of one READ
    std::vector<std::size_t> lengths = {};  ///< of the data that each READ returned
  };

  void SendPart(SftpClient& client, std::size_t index, TimePoint now);
  void Send(SftpClient& client, std::size_t index, const SftpRequest& request, TimePoint now);
  void OnReply(SftpClient& client, std::size_t index, std::size_t piece, SftpReply&& reply);
  void Take(Part& part, std::size_t piece, SftpReply&& reply);
  void TakeValue(Part& part, std::size_t piece, SftpReply&& reply);
  void TakeData(Part& part, std::size_t piece, std::string_view bytes);
  static void Refuse(Part& part, guest::FileErrorCode code, const std::string& detail);
  void FinishWhenComplete();

  std::vector<Part> parts_;
  std::uint64_t handle_channel_ = 0;
  std::uint64_t channel_ = 0;
  std::uint32_t first_request_ = 0;
  Completion completion_;
  std::size_t answers_left_ = 0;
  std::optional<std::string> lost_;  ///< why requests have no reply
  bool may_have_changed_ = false;    ///< the guest's files
  bool finished_ = false;
};

}  // namespace ssh
