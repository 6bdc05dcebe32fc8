// SPDX-License-Identifier: Apache-2.0
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
#include "ssh/channel_broker.h"
#include "ssh/completion.h"
#include "ssh/sftp/sftp_codec.h"

namespace ssh {

class SftpChannel;

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
  void Begin(SftpChannel& channel, TimePoint now);
  /// Finishes without waiting for the replies, and closes what it opens.
  void Fail(std::exception_ptr failure);
  /// The same if the connection or the server is lost.
  void FailAsLost(const std::string& reason);
  [[nodiscard]] bool finished() const { return finished_; }

  // The channel calls these.
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
  SftpChannel* channel_ = nullptr;  ///< since Begin
  std::vector<Piece> pieces_;
  std::size_t pending_ = 0;  ///< pieces without a reply
  Completion completion_;
  bool may_have_changed_ = false;  ///< the guest's files
  bool finished_ = false;
};

/// An SFTP server on a channel of its own. Runs any number of bursts at once, and matches replies
/// to requests by id. For the session's thread only.
class SftpChannel final : public ChannelUser {
 public:
  /// A server that owes a reply and has been silent for this long is given up.
  static constexpr auto kMaxSilence = std::chrono::seconds(20);

  /// Requests a channel. `number` is stored in the handles that it opens.
  SftpChannel(ChannelBroker& broker, std::uint64_t number) : broker_(broker), number_(number) {
    broker_.Request(*this, "");
  }
  /// Closes it. No burst may run.
  ~SftpChannel() override { Close(); }

  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// The server has sent VERSION, and its limits if it offers limits@openssh.com.
  [[nodiscard]] bool ready() const { return state_ == State::kReady; }
  [[nodiscard]] bool idle() const { return ready() && pending_.empty(); }
  /// It has failed every burst and takes no more.
  [[nodiscard]] bool closed() const { return state_ == State::kClosed; }
  /// Why it was closed before its first burst; empty: it was used.
  [[nodiscard]] const std::string& start_failure() const { return start_failure_; }

  /// Once it is ready, sends a request of the burst. Two kinds of requests fail at once: one that
  /// needs an extension which the server does not offer, and one longer than kMaxSftpPacket (a long
  /// path), because OpenSSH's server would exit.
  void Send(std::shared_ptr<Burst> burst, std::size_t piece, TimePoint now);
  /// Once it is ready: closes a handle without waiting.
  void CloseHandle(const guest::Handle& handle, TimePoint now);
  /// Closes the channel and fails every burst.
  void FailAll(const std::string& reason);

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);

  // Parts of Step.

  /// After it throws SftpProtocolError, call FailAll.
  void Receive(std::string_view bytes, TimePoint now);
  /// The bytes to send; then call Consumed with the number of bytes sent.
  [[nodiscard]] std::string_view output() const { return output_; }
  void Consumed(std::size_t count);
  /// FailAll after kMaxSilence. What the server hangs at is not repeated: it would hang again.
  void GiveUp();
  /// Since when a reply is pending and the server has been silent; max() if none is pending.
  [[nodiscard]] TimePoint silent_since() const { return idle() ? TimePoint::max() : owing_since_; }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  /// Most bytes of data in one READ or WRITE.
  [[nodiscard]] std::size_t max_data() const { return max_data_; }

  void OnRequested() override { owing_since_ = support::Clock::now(); }
  void OnGranted(std::unique_ptr<Channel> channel) override { channel_ = std::move(channel); }
  void OnRefused(const std::string& text, bool /*may_have_run*/) override { FailAll(text); }
  void OnData(bool is_standard_error, std::string_view bytes) noexcept override {
    if (!is_standard_error) inbox_ += bytes;
  }

 private:
  enum class State { kStarting, kRequestingLimits, kReady, kClosed };
  struct Pending {
    std::shared_ptr<Burst> burst;
    std::size_t piece;
    std::uint64_t output_end;  ///< position in the stream of all output
  };

  void ReceiveInbox(TimePoint now);
  void OnPacket(const SftpPacket& packet);
  void CheckEnd();
  void Close();

  ChannelBroker& broker_;
  const std::uint64_t number_;
  std::unique_ptr<Channel> channel_;  // null until it is granted, and when closed
  State state_ = State::kStarting;
  std::string inbox_;  // filled by libssh's callback, read by Step
  std::string start_failure_;
  bool was_used_ = false;
  /// The last data, or the first pending request if later; max() before SFTP is requested.
  TimePoint owing_since_ = TimePoint::max();
  SftpDecoder decoder_;
  SftpExtensions extensions_;
  std::string output_ = InitPacket();
  std::uint64_t consumed_ = 0;  ///< bytes in all
  std::uint32_t next_id_ = 1;
  std::size_t max_data_ = kDefaultSftpData;
  std::map<std::uint32_t, Pending> pending_;  // by id: the oldest first
};

/// SFTP for one session, on one channel at a time: a new one is opened after the server has exited
/// or was given up. For the session's thread only.
class SftpService {
 public:
  explicit SftpService(ChannelBroker& broker) : broker_(broker) {}

  /// A burst with handles needs the channel that opened them.
  void Submit(std::shared_ptr<Burst> burst);
  /// Finishes the burst with support::Stopped. Requests already sent are not cancelled.
  void Cancel(Burst& burst, support::StopReason reason);
  /// Closes a file without waiting.
  void CloseHandle(const guest::Handle& handle);

  /// Returns when to call it again even if nothing happens on the session.
  TimePoint Step(TimePoint now);

  /// Call it when the session is lost.
  void OnSessionLost(const std::string& text);

 private:
  /// The channel if it has the number and is ready, or null.
  [[nodiscard]] SftpChannel* Find(std::uint64_t number) const;
  void RemoveClosed();

  ChannelBroker& broker_;
  std::unique_ptr<SftpChannel> channel_;         // null before its first burst
  std::vector<std::shared_ptr<Burst>> waiting_;  // for a channel that is ready
  std::uint64_t last_number_ = 0;
};

}  // namespace ssh
