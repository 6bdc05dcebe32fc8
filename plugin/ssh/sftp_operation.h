#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "ssh/completion.h"
#include "ssh/sftp_client.h"

namespace ssh {

/// An open file or directory in the guest: a handle is worth something only on the SFTP channel
/// that gave it.
struct RemoteHandle {
  std::string handle;
  std::uint64_t channel = 0;  ///< see SftpOperation::channel
};

/// What went wrong with what, in the words of the caller.
struct SftpSubject {
  std::string operation;  ///< "open"
  std::string path;
};

/// Of the server's own words in an error text, in bytes.
inline constexpr std::size_t kMaximumServerWords = 256;

/// The exception for an answer that is not a success: guest::FileError, or support::ConnectionLost
/// where there was no answer.
std::exception_ptr FailureOf(const SftpSubject& subject, const SftpReply& reply);

/// Throws guest::FileError: the server's answer is none to what it was asked.
[[noreturn]] void ThrowWrongKind(const SftpSubject& subject);

/// The reply as the kind that the request asks for; throws guest::FileError where the server gave
/// another.
template <typename Kind>
Kind Expect(SftpReply&& reply, const SftpSubject& subject) {
  if (auto* kind = std::get_if<Kind>(&reply)) return std::move(*kind);
  ThrowWrongKind(subject);
}

/// The one name that READLINK and REALPATH are answered with; throws as Expect does.
std::string OnlyName(SftpReply&& reply, const SftpSubject& subject);

/// One call of the guest's file interface, carried out by the thread that owns the session. Made
/// by the caller, which waits on `completion()` and then takes the result; everything else is for
/// the owner. Held by shared pointers, so that replies that come too late find it.
class SftpOperation : public std::enable_shared_from_this<SftpOperation> {
 public:
  using TimePoint = support::Clock::time_point;

  /// `handle_channel` is the channel of the handle it works on, 0 where it needs none.
  SftpOperation(SftpSubject subject, std::uint64_t handle_channel)
      : subject_(std::move(subject)), handle_channel_(handle_channel) {}
  virtual ~SftpOperation() = default;

  Completion& completion() { return completion_; }

  /// Sends what comes first.
  virtual void Begin(SftpClient& client, TimePoint now) = 0;

  /// Sends more where the operation waits for room in the client's output.
  virtual void Continue(SftpClient&, TimePoint) {}

  /// Whether what it asks for may have changed something in the guest once it was sent.
  [[nodiscard]] virtual bool changes_guest() const { return false; }

  /// Whether it opens a file or a directory.
  [[nodiscard]] virtual bool opens() const { return false; }

  /// Ends the operation; later calls do nothing.
  void Finish(std::exception_ptr failure = nullptr);
  /// The same with the exception for an answer that is not a success: see FailureOf. An operation
  /// that changes nothing never "may have run".
  void FinishWithFailure(SftpReply reply);
  /// Also true for a part of one that has ended.
  [[nodiscard]] bool finished() const;

  /// What a part calls at its end, with its failure if there is one, instead of finishing its
  /// completion: see CompoundOperation.
  using Then = std::function<void(std::exception_ptr failure)>;
  /// Before Begin. `then` is not called once `whole` has ended.
  void MakePartOf(const std::shared_ptr<SftpOperation>& whole, Then then);

  [[nodiscard]] std::uint64_t handle_channel() const { return handle_channel_; }

  /// The channel that it was begun on; 0 before.
  [[nodiscard]] std::uint64_t channel() const { return channel_; }
  void set_channel(std::uint64_t channel) { channel_ = channel; }

  [[nodiscard]] const SftpSubject& subject() const { return subject_; }

 private:
  SftpSubject subject_;
  std::uint64_t handle_channel_;
  std::uint64_t channel_ = 0;
  Completion completion_;
  Then then_;  ///< of a part
  std::weak_ptr<SftpOperation> whole_;
  bool is_part_ = false;
  bool finished_ = false;
};

/// One request, one reply.
class AskOperation final : public SftpOperation {
 public:
  /// `extension`: what the server must offer, else guest::FileError kUnsupported; empty for the
  /// requests of the base protocol.
  AskOperation(SftpSubject subject, SftpRequest request, std::string_view extension,
               std::uint64_t handle_channel);

  void Begin(SftpClient& client, TimePoint now) override;
  [[nodiscard]] bool changes_guest() const override { return request_.changes_guest; }
  [[nodiscard]] bool opens() const override { return request_.type == SftpType::kOpen; }

  /// After the completion has finished without failure: what the guest said, never an SftpData or
  /// SftpLost, and a status only if it is kOk.
  SftpReply reply;

 private:
  SftpRequest request_;
  std::string_view extension_;
};

/// Reads a range with many requests on their way at once.
class ReadOperation final : public SftpOperation {
 public:
  static constexpr std::size_t kFirstWindow = 4;
  static constexpr std::size_t kLargestWindow = 64;
  /// Bytes. Not more: what has been asked for still comes when nobody wants it any longer.
  static constexpr std::size_t kMostAhead = std::size_t{4} * 1024 * 1024;
  static constexpr std::uint32_t kShortestRequest = 4 * 1024;
  /// What is asked for beyond this gets its memory only as it comes.
  static constexpr std::size_t kReservedAtOnce = std::size_t{32} * 1024 * 1024;

  /// A server may answer with less than was asked for, and a file may end there.
  enum class ShortAnswer { kIsAskedForTheRest, kIsTheEnd };
  ReadOperation(SftpSubject subject, const RemoteHandle& handle, std::uint64_t offset,
                std::size_t length, ShortAnswer short_answer = ShortAnswer::kIsAskedForTheRest);

  void Begin(SftpClient& client, TimePoint now) override;

  std::string bytes;  ///< the result

 private:
  struct Segment {
    std::uint64_t offset;
    std::uint32_t wanted;
    std::uint32_t first_piece;  ///< length of the first answer when it was short, else 0
    std::string early;          ///< came before the segments in front of it
    bool complete;
    bool file_ended;
  };

  void SendMore(SftpClient& client, TimePoint now);
  [[nodiscard]] bool MayAskForMore() const;
  void SendSegment(SftpClient& client, std::uint64_t number, TimePoint now);
  void OnReply(SftpClient& client, std::uint64_t number, SftpReply&& reply);
  void OnBytes(SftpClient& client, std::uint64_t number, std::string_view piece);
  void TakeComplete();

  std::string handle_;
  std::uint64_t next_offset_;
  std::size_t left_;
  ShortAnswer short_answer_;
  std::size_t window_ = kFirstWindow;
  std::uint64_t first_number_ = 0;  // of segments_.front()
  std::deque<Segment> segments_;
};

/// Writes bytes with many requests on their way at once.
class WriteOperation final : public SftpOperation {
 public:
  static constexpr std::size_t kLargestWindow = 64;
  /// More is not encoded before the channel has taken what is there.
  static constexpr std::size_t kOutputAhead = std::size_t{1024} * 1024;

  /// `bytes` must live until the completion has finished.
  WriteOperation(SftpSubject subject, const RemoteHandle& handle, std::uint64_t offset,
                 std::string_view bytes);

  void Begin(SftpClient& client, TimePoint now) override { Continue(client, now); }
  [[nodiscard]] bool changes_guest() const override { return true; }
  void Continue(SftpClient& client, TimePoint now) override;

 private:
  void OnReply(SftpClient& client, const SftpReply& reply);

  std::string handle_;
  std::uint64_t offset_;
  std::string_view left_;
  std::size_t on_their_way_ = 0;
  bool some_written_ = false;
};

/// Opens a directory, reads all of it and closes it.
class ListOperation final : public SftpOperation {
 public:
  /// Requests on their way at once. A directory of a hundred names and its end come with the first
  /// answers; only a long one is asked for more, since the guest would still be busy with what was
  /// asked for in vain when the next call comes.
  static constexpr std::size_t kFirstWindow = 3;
  static constexpr std::size_t kLargestWindow = 8;
  /// A server that never stops sending names is not believed.
  static constexpr std::size_t kMaximumEntries = 1'000'000;
  /// Of all names together, in bytes: an entry can be as long as a packet.
  static constexpr std::size_t kMaximumNameBytes = std::size_t{64} << 20;

  /// Whether to read it at once with opening it, where its handle can be guessed: SftpClient's
  /// LikelyHandle. Saves a round trip.
  enum class Begins { kWhenItIsOpen, kWithOpening };

  /// `wanted` is asked once the directory is open, on the owner's thread; where it says no, it is
  /// closed, unread or what was read is dropped, and there are no entries. Empty: it is wanted.
  explicit ListOperation(std::string path, std::function<bool()> wanted = {},
                         Begins begins = Begins::kWhenItIsOpen);

  void Begin(SftpClient& client, TimePoint now) override;
  [[nodiscard]] bool opens() const override { return true; }

  std::vector<guest::DirectoryEntry> entries;  ///< the result
  /// Of the directory itself, where the server lists "." too and tells what that is; OpenSSH's
  /// does.
  std::optional<guest::FileAttributes> directory;

 private:
  void Open(SftpClient& client, TimePoint now);
  void OnOpened(SftpClient& client, SftpReply&& reply);
  void ForgetGuess(SftpClient& client, TimePoint now);
  void SendMore(SftpClient& client, TimePoint now);
  void OnReply(SftpClient& client, SftpReply&& reply);
  void OnEnd(SftpClient& client);
  void AdjustWindow(std::size_t names);
  void Take(std::vector<guest::DirectoryEntry> names);
  void Close(SftpClient& client, TimePoint now);

  std::function<bool()> wanted_;
  Begins begins_;
  std::optional<std::string> handle_;  ///< while the directory is open
  std::string guess_;                  ///< of its handle; empty where there is none
  bool answered_early_ = false;        ///< a guess, before the handle came
  int attempt_ = 1;
  std::size_t window_ = kFirstWindow;
  std::size_t on_their_way_ = 0;
  std::size_t most_names_ = 0;  ///< in one answer so far
  std::size_t name_bytes_ = 0;
  bool asks_whether_denied_ = false;
};

}  // namespace ssh
