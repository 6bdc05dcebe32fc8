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

/// Of the server's own words in an error text, in bytes.
inline constexpr std::size_t kMaximumServerWords = 256;

/// One guest::Guest::AskAll, carried out by the thread that owns the session. Made by the caller,
/// which waits on `completion()` and then takes the replies; everything else is for the owner. Held
/// by shared pointers, so that replies that come too late find it: what they opened is closed.
///
/// A long ask::Read or ask::Write becomes as many requests as the server's limits make of it.
class Burst final : public std::enable_shared_from_this<Burst> {
 public:
  using TimePoint = support::Clock::time_point;

  /// A server that gives less than it was asked for is never asked for less than this.
  static constexpr std::uint32_t kShortestRead = 4 * 1024;

  explicit Burst(std::vector<guest::Request> requests);

  Completion& completion() { return completion_; }
  /// After the completion has finished without failure.
  std::vector<guest::Reply> TakeReplies();

  /// The channel of the handles that it is about; 0 where it is about none. One burst is never
  /// about handles of two channels.
  [[nodiscard]] std::uint64_t handle_channel() const { return handle_channel_; }
  /// What it is to close.
  [[nodiscard]] std::vector<guest::Handle> ToClose() const;
  /// What its first request does with what, for texts.
  [[nodiscard]] std::string Describe() const;

  /// Sends all of it. `channel` is that of the handles it opens.
  void Begin(SftpClient& client, std::uint64_t channel, TimePoint now);
  /// The channel that it was begun on; 0 before.
  [[nodiscard]] std::uint64_t channel() const { return channel_; }

  /// Ends it before its replies have come; later ones are not waited for.
  void Fail(std::exception_ptr failure);
  /// The same where the connection to the server, or the server, is gone.
  void FailLost(const std::string& reason);
  [[nodiscard]] bool finished() const { return finished_; }
  /// What it has opened so far: nobody takes it where the burst fails.
  [[nodiscard]] std::vector<guest::Handle> Opened() const;

 private:
  /// One of the requests, and what has come of it.
  struct Part {
    guest::Request request;
    std::string operation;  ///< "open", for texts
    std::string path;
    guest::Reply reply;
    std::size_t answers_left = 0;
    std::size_t piece = 0;             ///< length of one READ
    std::vector<std::size_t> lengths;  ///< of the data that READs have brought; in their order
    bool changes_guest = false;
  };
  class Sender;

  void OnReply(SftpClient& client, std::size_t part, std::size_t piece, SftpReply&& reply);
  void Take(SftpClient& client, Part& part, std::size_t piece, SftpReply&& reply);
  void TakeData(Part& part, std::size_t piece, std::string_view bytes);
  void EndRead(SftpClient& client, Part& part);
  void Refuse(Part& part, guest::FileErrorCode code, const std::string& detail);
  void FinishWhenComplete();

  std::vector<Part> parts_;
  std::uint64_t handle_channel_ = 0;
  std::uint64_t channel_ = 0;
  Completion completion_;
  std::size_t answers_left_ = 0;
  std::optional<std::string> lost_;  ///< why requests have no answer
  bool may_have_changed_ = false;    ///< something was changed, or may have been
  bool finished_ = false;
};

}  // namespace ssh
