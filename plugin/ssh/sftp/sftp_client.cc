#include "ssh/sftp/sftp_client.h"

#include <algorithm>

#include "support/errors.h"

namespace ssh {
namespace {

using guest::Operation;

/// Every server must accept packets of 34,000 bytes (draft-ietf-secsh-filexfer-02, section 3).
constexpr std::size_t kDefaultLength = 32 * 1024;

/// A server's lower limit is ignored, because one burst would become thousands of requests.
constexpr std::uint64_t kMinLength = 4 * 1024;

}  // namespace

std::vector<guest::Reply> Burst::TakeReplies() {
  std::vector<guest::Reply> replies(requests_.size());
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i].operation == Operation::kRead) replies[i].value = std::string();
  }
  for (Piece& piece : pieces_) {
    guest::Reply& reply = replies[piece.index];
    if (reply.failure) continue;
    if (piece.reply.failure || piece.request.operation != Operation::kRead) {
      reply = std::move(piece.reply);
      continue;
    }
    // A Read ends at the first incomplete piece.
    auto& bytes = reply.As<std::string>();
    const bool is_next = requests_[piece.index].offset + bytes.size() == piece.request.offset;
    if (is_next) bytes += piece.reply.As<std::string>();
  }
  return replies;
}

std::uint64_t Burst::handle_channel() const {
  for (const guest::Request& request : requests_) {
    if (request.handle.channel != 0) return request.handle.channel;
  }
  return 0;
}

bool Burst::changes_guest() const {
  return std::any_of(requests_.begin(), requests_.end(), ChangesGuest);
}

std::string Burst::Describe() const {
  return requests_.empty() ? "" : ssh::Describe(requests_.front());
}

void Burst::Begin(SftpClient& client, TimePoint now) {
  client_ = &client;
  for (std::size_t i = 0; i < requests_.size(); ++i) Split(i, client.max_data());
  pending_ = pieces_.size();
  for (std::size_t i = 0; i < pieces_.size(); ++i) client.Send(shared_from_this(), i, now);
  FinishWhenComplete();
}

void Burst::Split(std::size_t index, std::size_t max_data) {
  const guest::Request& request = requests_[index];
  const bool reads = request.operation == Operation::kRead;
  if (!reads && request.operation != Operation::kWrite) {
    pieces_.push_back({index, request});
    return;
  }
  const std::size_t length = reads ? request.length : request.bytes.size();
  for (std::size_t done = 0; done < length; done += max_data) {
    guest::Request& piece = pieces_.emplace_back(Piece{index, request}).request;
    piece.offset += done;
    piece.length = std::min(length - done, max_data);
    if (!reads) piece.bytes = request.bytes.substr(done, piece.length);
  }
}

void Burst::OnReply(std::size_t piece, guest::Reply&& reply) {
  --pending_;
  may_have_changed_ |= ChangesGuest(request(piece)) && !reply.failure;
  if (finished_) return CloseHandle(reply);  // the caller no longer waits
  pieces_[piece].reply = std::move(reply);
  FinishWhenComplete();
}

void Burst::OnLost(std::size_t piece) {
  may_have_changed_ |= ChangesGuest(request(piece));
}

void Burst::CloseHandle(const guest::Reply& reply) {
  const auto* handle = std::get_if<guest::Handle>(&reply.value);
  if (handle != nullptr) client_->Close(*handle, support::Clock::now());
}

void Burst::FinishWhenComplete() {
  if (pending_ > 0 || finished_) return;
  finished_ = true;
  completion_.Finish();
}

void Burst::FailLost(const std::string& reason) {
  if (finished_) return;
  Fail(MakeFailure<support::ConnectionLost>(
      Describe() + ": " + reason +
          (may_have_changed_ ? "; it may have run" : "; nothing was changed in the guest"),
      may_have_changed_));
}

void Burst::Fail(std::exception_ptr failure) {
  if (finished_) return;
  finished_ = true;
  for (const Piece& piece : pieces_) CloseHandle(piece.reply);
  completion_.Finish(std::move(failure));
}

SftpClient::SftpClient(TimePoint now, std::uint64_t channel)
    : channel_(channel), owing_since_(now), output_(InitPacket()), max_data_(kDefaultLength) {}

void SftpClient::Receive(std::string_view bytes, TimePoint now) {
  owing_since_ = now;
  decoder_.Append(bytes);
  if (state_ == State::kStarting) {
    std::optional<SftpExtensions> offered = decoder_.NextVersion();
    if (!offered) return;
    extensions_ = *std::move(offered);
    state_ = State::kReady;
    if (extensions_.contains(kLimitsExtension)) {
      state_ = State::kRequestingLimits;
      output_ += LimitsPacket(next_id_++);
    }
  }
  while (const std::optional<SftpPacket> packet = decoder_.Next()) OnPacket(*packet);
}

void SftpClient::OnPacket(const SftpPacket& packet) {
  if (state_ == State::kRequestingLimits && packet.id + 1 == next_id_) {
    state_ = State::kReady;
    const std::uint64_t limit = DecodeLimits(packet);
    if (limit != 0) max_data_ = std::clamp<std::uint64_t>(limit, kMinLength, kMaxSftpData);
    return;
  }
  const auto found = pending_.find(packet.id);
  if (found == pending_.end()) throw SftpProtocolError("it sent a reply without a request");
  const Pending pending = found->second;
  guest::Reply reply = DecodeReply(pending.burst->request(pending.piece), packet, channel_);
  pending_.erase(found);
  pending.burst->OnReply(pending.piece, std::move(reply));
}

void SftpClient::Consumed(std::size_t count) {
  consumed_ += count;
  output_.erase(0, count);
}

void SftpClient::Send(std::shared_ptr<Burst> burst, std::size_t piece, TimePoint now) {
  using guest::FileErrorCode;
  const guest::Request& request = burst->request(piece);
  const std::string_view extension = Find(request.operation).extension;
  if (!extension.empty() && !extensions_.contains(extension)) {
    return burst->OnReply(piece,
                          Failed(request, FileErrorCode::kUnsupported, std::string(extension)));
  }
  if (!AppendRequest(output_, next_id_, request)) {
    return burst->OnReply(
        piece, Failed(request, FileErrorCode::kFailure, "the path is too long for SFTP"));
  }
  if (pending_.empty()) owing_since_ = now;
  pending_.emplace(next_id_++, Pending{std::move(burst), piece, consumed_ + output_.size()});
}

void SftpClient::Close(const guest::Handle& handle, TimePoint now) {
  const auto burst = std::make_shared<Burst>(std::vector{guest::Request::Close(handle)});
  burst->Fail(nullptr);  // nothing waits for it
  burst->Begin(*this, now);
}

void SftpClient::Fail(const std::string& reason) {
  const auto lost = std::exchange(pending_, {});
  for (const auto& [id, pending] : lost) {
    // The server runs only requests that it has received completely.
    if (pending.output_end <= consumed_) pending.burst->OnLost(pending.piece);
  }
  for (const auto& [id, pending] : lost) pending.burst->FailLost(reason);
}

bool SftpClient::FailBehindOldest(const std::string& reason) {
  bool is_one_left = false;
  for (const auto& [id, pending] : pending_) {
    if (pending.burst->finished()) continue;
    const bool is_behind = pending.burst != pending_.begin()->second.burst;
    if (is_behind && !pending.burst->changes_guest()) {
      pending.burst->FailLost(reason);
    } else {
      is_one_left = true;
    }
  }
  return is_one_left;
}

}  // namespace ssh
