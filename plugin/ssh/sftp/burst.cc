#include "ssh/sftp/burst.h"

#include <algorithm>

#include "support/errors.h"

namespace ssh {

using guest::Operation;

std::vector<guest::Reply> Burst::TakeReplies() {
  std::vector<guest::Reply> replies(requests_.size());
  std::vector<bool> ended(requests_.size());  // a Read ends at the first incomplete piece
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
    const auto& bytes = piece.reply.As<std::string>();
    if (!ended[piece.index]) reply.As<std::string>() += bytes;
    if (bytes.size() < piece.request.length) ended[piece.index] = true;
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
  first_request_ = client.next_request();
  for (std::size_t i = 0; i < requests_.size(); ++i) Split(i, client.max_data());
  pending_ = pieces_.size();
  for (Piece& piece : pieces_) {
    client.Send(piece.request, now, [self = shared_from_this(), &piece](SftpReply&& reply) {
      self->OnReply(piece, std::move(reply));
    });
  }
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

void Burst::OnReply(Piece& piece, SftpReply&& reply) {
  --pending_;
  if (auto* const received = std::get_if<guest::Reply>(&reply)) {
    may_have_changed_ |= ChangesGuest(piece.request) && !received->failure;
    if (finished_) return CloseHandle(*received);  // the caller no longer waits
    piece.reply = std::move(*received);
  } else {
    const auto& lost = std::get<SftpLost>(reply);
    may_have_changed_ |= ChangesGuest(piece.request) && lost.may_have_run;
    if (!lost_) lost_ = lost.reason;
  }
  FinishWhenComplete();
}

void Burst::CloseHandle(const guest::Reply& reply) {
  const auto* handle = std::get_if<guest::Handle>(&reply.value);
  if (handle == nullptr) return;
  client_->Send(guest::Request::Close(*handle), support::Clock::now(), [](SftpReply&&) {});
}

void Burst::FinishWhenComplete() {
  if (pending_ > 0 || finished_) return;
  if (lost_) return FailLost(*lost_);
  finished_ = true;
  completion_.Finish();
}

void Burst::FailLost(const std::string& reason) {
  Fail(MakeFailure<support::ConnectionLost>(
      Describe() + ": " + reason +
          (may_have_changed_ ? "; it may have run" : "; nothing was changed in the guest"),
      may_have_changed_));
}

void Burst::Fail(std::exception_ptr failure) {
  if (finished_) return;
  finished_ = true;
  if (!lost_) {
    for (const Piece& piece : pieces_) CloseHandle(piece.reply);
  }
  completion_.Finish(std::move(failure));
}

}  // namespace ssh
