// SPDX-License-Identifier: Apache-2.0
#include "ssh/sftp/sftp_service.h"

#include <algorithm>

#include "support/errors.h"
#include "support/format.h"

namespace ssh {
namespace {

using guest::Operation;

/// A server's lower limit is ignored, because one burst would become thousands of requests.
constexpr std::uint64_t kMinLength = 4 * 1024;

constexpr const char* kSilent = "the guest's SFTP server does not answer";

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

void Burst::Begin(SftpChannel& channel, TimePoint now) {
  channel_ = &channel;
  for (std::size_t i = 0; i < requests_.size(); ++i) Split(i, channel.max_data());
  pending_ = pieces_.size();
  for (std::size_t i = 0; i < pieces_.size(); ++i) channel.Send(shared_from_this(), i, now);
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
  if (handle != nullptr) channel_->CloseHandle(*handle, support::Clock::now());
}

void Burst::FinishWhenComplete() {
  if (pending_ > 0 || finished_) return;
  finished_ = true;
  completion_.Finish();
}

void Burst::FailAsLost(const std::string& reason) {
  if (finished_) return;
  Fail(MakeFailure<support::ConnectionLost>(
      support::Format("{}: {}; {}", Describe(), reason,
                      may_have_changed_ ? "it may have run" : "nothing was changed in the guest"),
      may_have_changed_));
}

void Burst::Fail(std::exception_ptr failure) {
  if (finished_) return;
  finished_ = true;
  for (const Piece& piece : pieces_) CloseHandle(piece.reply);
  completion_.Finish(std::move(failure));
}

void SftpChannel::Close() {
  if (channel_) {
    broker_.Close(std::move(channel_));
  } else if (!closed()) {
    broker_.Cancel(*this);
  }
  state_ = State::kClosed;
}

void SftpChannel::GiveUp() {
  if (!pending_.empty()) {
    Burst& oldest = *pending_.begin()->second.burst;
    if (!oldest.changes_guest()) {
      oldest.Fail(MakeFailure<support::Error>(
          support::Format("{}: {}; call again, or see with run_shell_command ([\"df\"]) what hangs",
                          oldest.Describe(), kSilent)));
    }
  }
  FailAll(kSilent);
}

void SftpChannel::FailAll(const std::string& reason) {
  if (!was_used_) start_failure_ = reason;
  Close();
  const auto lost = std::exchange(pending_, {});
  for (const auto& [id, pending] : lost) {
    // The server runs only requests that it has received completely.
    if (pending.output_end <= consumed_) pending.burst->OnLost(pending.piece);
  }
  for (const auto& [id, pending] : lost) pending.burst->FailAsLost(reason);
}

TimePoint SftpChannel::Step(TimePoint now) {
  ReceiveInbox(now);
  bool has_more = false;
  if (channel_) {
    // One piece per step, so that a large upload does not delay the other channels.
    const std::size_t written = channel_->Write(output_);
    Consumed(written);
    has_more = written > 0 && !output_.empty();
    CheckEnd();
  }
  const TimePoint silent = closed() ? TimePoint::max() : silent_since();
  if (silent != TimePoint::max() && now - silent >= kMaxSilence) GiveUp();
  if (has_more || closed()) return TimePoint::min();
  return silent == TimePoint::max() ? silent : silent + kMaxSilence;
}

void SftpChannel::ReceiveInbox(TimePoint now) {
  if (inbox_.empty()) return;
  try {
    Receive(inbox_, now);
  } catch (const SftpProtocolError& error) {
    return FailAll(support::Format(
        "{}{}", ready() ? "the guest's SFTP server violates the protocol: " : "", error.what()));
  }
  inbox_.clear();
}

void SftpChannel::CheckEnd() {
  // Sending polls too; the next turn reads what that received.
  if (!inbox_.empty()) return;
  if (channel_->peer_closed() || channel_->peer_sent_end_of_file()) {
    FailAll(ready() ? "the guest's SFTP server exited"
                    : "the guest's SFTP server exited at once: it, or the login shell that starts "
                      "it, does not work in the guest");
  }
}

void SftpChannel::Receive(std::string_view bytes, TimePoint now) {
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

void SftpChannel::OnPacket(const SftpPacket& packet) {
  if (state_ == State::kRequestingLimits && packet.id + 1 == next_id_) {
    state_ = State::kReady;
    const std::uint64_t limit = DecodeLimits(packet);
    if (limit != 0) max_data_ = std::clamp<std::uint64_t>(limit, kMinLength, kMaxSftpData);
    return;
  }
  const auto found = pending_.find(packet.id);
  if (found == pending_.end()) throw SftpProtocolError("it sent a reply without a request");
  const Pending pending = found->second;
  guest::Reply reply = DecodeReply(pending.burst->request(pending.piece), packet, number_);
  pending_.erase(found);
  pending.burst->OnReply(pending.piece, std::move(reply));
}

void SftpChannel::Consumed(std::size_t count) {
  consumed_ += count;
  output_.erase(0, count);
}

void SftpChannel::Send(std::shared_ptr<Burst> burst, std::size_t piece, TimePoint now) {
  using guest::FileErrorCode;
  was_used_ = true;
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

void SftpChannel::CloseHandle(const guest::Handle& handle, TimePoint now) {
  const auto burst = std::make_shared<Burst>(std::vector{guest::Request::Close(handle)});
  burst->Fail(nullptr);  // nothing waits for it
  burst->Begin(*this, now);
}

void SftpService::Submit(std::shared_ptr<Burst> burst) {
  const std::uint64_t number = burst->handle_channel();
  if (number == 0) return waiting_.push_back(std::move(burst));
  SftpChannel* const channel = Find(number);
  if (channel != nullptr) return burst->Begin(*channel, support::Clock::now());
  burst->FailAsLost("the file's SFTP channel has been closed");
}

SftpChannel* SftpService::Find(std::uint64_t number) const {
  return channel_ && channel_->number() == number && channel_->ready() ? channel_.get() : nullptr;
}

void SftpService::Cancel(Burst& burst, support::StopReason reason) {
  burst.Fail(MakeFailure<support::Stopped>(reason));
  std::erase_if(waiting_, [&](const auto& other) { return other.get() == &burst; });
}

void SftpService::CloseHandle(const guest::Handle& handle) {
  if (SftpChannel* const channel = Find(handle.channel))
    channel->CloseHandle(handle, support::Clock::now());
}

TimePoint SftpService::Step(TimePoint now) {
  RemoveClosed();
  if (!channel_) {
    if (waiting_.empty()) return TimePoint::max();
    channel_ = std::make_unique<SftpChannel>(broker_, ++last_number_);
    return now;
  }
  if (channel_->ready()) {
    for (const auto& burst : std::exchange(waiting_, {})) {
      burst->Begin(*channel_, support::Clock::now());
    }
  }
  const TimePoint next = channel_->Step(now);
  return !waiting_.empty() && channel_->ready() ? now : next;
}

void SftpService::RemoveClosed() {
  if (!channel_ || !channel_->closed()) return;
  // A server that does not start is not started again for the same bursts.
  if (const std::string& failure = channel_->start_failure(); !failure.empty()) {
    for (const auto& burst : std::exchange(waiting_, {})) {
      burst->Fail(
          MakeFailure<support::Error>(support::Format("{}: {}", burst->Describe(), failure)));
    }
  }
  channel_.reset();
}

void SftpService::OnSessionLost(const std::string& text) {
  if (channel_) channel_->FailAll(text);
  channel_.reset();
  for (const auto& burst : std::exchange(waiting_, {})) burst->FailAsLost(text);
}

}  // namespace ssh
