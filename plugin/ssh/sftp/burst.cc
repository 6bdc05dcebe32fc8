#include "ssh/sftp/burst.h"

#include <algorithm>

#include "ssh/sftp/sftp_client.h"
#include "support/errors.h"

namespace ssh {

using guest::Operation;

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

}  // namespace ssh
