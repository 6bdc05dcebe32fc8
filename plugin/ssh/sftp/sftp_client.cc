#include "ssh/sftp/sftp_client.h"

#include <algorithm>
#include <utility>

namespace ssh {
namespace {

/// Every server must accept packets of 34,000 bytes (draft-ietf-secsh-filexfer-02, section 3).
constexpr std::size_t kDefaultLength = 32 * 1024;

/// A server's lower limit is ignored, because one burst would become thousands of requests.
constexpr std::uint64_t kMinLength = 4 * 1024;

/// Sent output is erased from the buffer once it is this long.
constexpr std::size_t kCompactAt = std::size_t{1024} * 1024;

}  // namespace

SftpClient::SftpClient(TimePoint now, std::uint64_t channel)
    : channel_(channel),
      owing_since_(now),
      output_(InitPacket()),
      output_end_(output_.size()),
      max_data_(kDefaultLength) {}

void SftpClient::Receive(std::string_view bytes, TimePoint now) {
  owing_since_ = now;
  decoder_.Append(bytes);
  if (state_ == State::kStarting) {
    std::optional<SftpVersion> version = decoder_.NextVersion();
    if (!version) return;
    OnVersion(*std::move(version));
  }
  while (const std::optional<SftpPacket> packet = decoder_.Next()) OnPacket(*packet);
}

void SftpClient::OnVersion(SftpVersion version) {
  if (version.version < kSftpVersion) {
    throw SftpProtocolError("the guest's SFTP server supports only version " +
                            std::to_string(version.version));
  }
  version_ = std::move(version);
  state_ = State::kReady;
  if (!Offers(kLimitsExtension)) return;
  state_ = State::kRequestingLimits;
  const std::string packet = LimitsPacket(next_id_++);
  output_ += packet;
  output_end_ += packet.size();
}

void SftpClient::OnPacket(const SftpPacket& packet) {
  const bool has_limits = state_ == State::kRequestingLimits && packet.id + 1 == next_id_;
  if (has_limits) return OnLimits(packet);
  const auto found = pending_.find(packet.id);
  if (found == pending_.end()) throw SftpProtocolError("it sent a reply without a request");
  guest::Reply reply = DecodeReply(found->second.request, packet, channel_);
  const Handler handler = std::move(found->second.handler);
  pending_.erase(found);
  handler(std::move(reply));
}

void SftpClient::OnLimits(const SftpPacket& packet) {
  state_ = State::kReady;
  const std::uint64_t limit = DecodeLimits(packet);
  if (limit != 0) max_data_ = std::clamp<std::uint64_t>(limit, kMinLength, kMaxSftpData);
}

void SftpClient::Consumed(std::size_t count) {
  if (count == 0) return;
  consumed_ += count;
  output_position_ += count;
  if (output_position_ == output_.size()) {
    output_.clear();
    output_position_ = 0;
  } else if (output_position_ >= kCompactAt) {
    output_.erase(0, output_position_);
    output_position_ = 0;
  }
}

void SftpClient::Send(const guest::Request& request, TimePoint now, Handler handler) {
  using guest::FileErrorCode;
  const std::string_view extension = ExtensionOf(request.operation);
  if (!extension.empty() && !Offers(extension)) {
    return handler(Failed(request, FileErrorCode::kUnsupported, std::string(extension)));
  }
  const std::size_t before = output_.size();
  if (!AppendRequest(output_, next_id_, request)) {
    return handler(Failed(request, FileErrorCode::kFailure, "the path is too long for SFTP"));
  }
  if (pending_.empty()) owing_since_ = now;
  output_end_ += output_.size() - before;
  pending_.emplace(next_id_++, Pending{request, std::move(handler), output_end_});
}

void SftpClient::Fail(const std::string& reason) {
  for (const auto& [id, pending] : std::exchange(pending_, {})) {
    // The server runs only requests that it has received completely.
    pending.handler(SftpLost{reason, pending.output_end <= consumed_});
  }
}

}  // namespace ssh
