#include <algorithm>
#include <utility>

#include "ssh/sftp_operation.h"

namespace ssh {

ReadOperation::ReadOperation(SftpSubject subject, const RemoteHandle& handle, std::uint64_t offset,
                             std::size_t length, ShortAnswer short_answer)
    : SftpOperation(std::move(subject), handle.channel),
      handle_(handle.handle),
      next_offset_(offset),
      left_(length),
      short_answer_(short_answer) {
  bytes.reserve(std::min(length, kReservedAtOnce));
}

void ReadOperation::Begin(SftpClient& client, TimePoint now) {
  SendMore(client, now);
  if (segments_.empty()) Finish();
}

void ReadOperation::SendMore(SftpClient& client, TimePoint now) {
  while (left_ > 0 && MayAskForMore()) {
    const auto wanted =
        static_cast<std::uint32_t>(std::min<std::size_t>(left_, client.maximum_read()));
    segments_.push_back({next_offset_, wanted, 0, {}, false, false});
    next_offset_ += wanted;
    left_ -= wanted;
    SendSegment(client, first_number_ + segments_.size() - 1, now);
  }
}

bool ReadOperation::MayAskForMore() const {
  if (segments_.empty()) return true;
  return segments_.size() < window_ && next_offset_ - segments_.front().offset < kMostAhead;
}

void ReadOperation::SendSegment(SftpClient& client, std::uint64_t number, TimePoint now) {
  const Segment& segment = segments_[number - first_number_];
  client.Send(ReadRequest(handle_, segment.offset, segment.wanted), now,
              [self = shared_from_this(), this, &client, number](SftpReply&& reply) {
                OnReply(client, number, std::move(reply));
              });
}

void ReadOperation::OnReply(SftpClient& client, std::uint64_t number, SftpReply&& reply) {
  if (finished()) return;
  const auto* status = std::get_if<SftpStatus>(&reply);
  if (const auto* data = std::get_if<SftpData>(&reply)) {
    OnBytes(client, number, data->bytes);
  } else if (status != nullptr && status->code == SftpStatusCode::kEndOfFile) {
    segments_[number - first_number_].complete = true;
    segments_[number - first_number_].file_ended = true;
  } else {
    FinishWithFailure(reply);
  }
  if (finished()) return;
  TakeComplete();
  if (finished()) return;
  if (window_ < kLargestWindow) ++window_;
  SendMore(client, client.last_received());
  if (segments_.empty()) Finish();
}

void ReadOperation::OnBytes(SftpClient& client, std::uint64_t number, std::string_view piece) {
  Segment& segment = segments_[number - first_number_];
  // An empty answer that is not the end would be asked for again for ever.
  if (piece.empty() || piece.size() > segment.wanted) {
    FinishWithFailure(SftpStatus{SftpStatusCode::kFailure,
                                 "the guest's SFTP server sent a wrong amount of data"});
    return;
  }
  (number == first_number_ ? bytes : segment.early) += piece;
  segment.offset += piece.size();
  segment.wanted -= static_cast<std::uint32_t>(piece.size());
  segment.complete = segment.wanted == 0;
  if (!segment.complete && short_answer_ == ShortAnswer::kIsTheEnd) {
    segment.complete = true;
    segment.file_ended = true;
    return;
  }
  if (segment.first_piece != 0) {
    // The file did not end at the short answer: the server never gives more in one.
    client.LearnMaximumRead(std::max(segment.first_piece, kShortestRequest));
  }
  if (segment.complete) return;
  if (segment.first_piece == 0) segment.first_piece = static_cast<std::uint32_t>(piece.size());
  SendSegment(client, number, client.last_received());
}

void ReadOperation::TakeComplete() {
  while (!segments_.empty()) {
    Segment& front = segments_.front();
    bytes += front.early;
    front.early.clear();
    if (!front.complete) return;
    if (front.file_ended) {
      // What lies behind was read after the file had ended here: it is not part of it.
      Finish();
      return;
    }
    segments_.pop_front();
    ++first_number_;
  }
}

}  // namespace ssh
