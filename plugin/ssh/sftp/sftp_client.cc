#include "ssh/sftp/sftp_client.h"

#include <algorithm>
#include <utility>

namespace ssh {
namespace {

/// Every server must accept packets of 34,000 bytes (draft-ietf-secsh-filexfer-02, section 3).
constexpr std::uint32_t kDefaultLength = 32 * 1024;

/// A server's lower limit is ignored, because one burst would become thousands of requests.
constexpr std::uint64_t kShortestLength = 4 * 1024;

/// Sent output is erased from the buffer once it is this long.
constexpr std::size_t kCompactAt = std::size_t{1024} * 1024;

}  // namespace

SftpClient::SftpClient(TimePoint now)
    : last_received_(now),
      owing_since_(now),
      output_(InitPacket()),
      output_end_(output_.size()),
      maximum_read_(kDefaultLength),
      maximum_write_(kDefaultLength) {}

void SftpClient::Receive(std::string_view bytes, TimePoint now) {
  last_received_ = now;
  owing_since_ = now;
  decoder_.Append(bytes);
  if (state_ == State::kStarting) {
    std::optional<SftpVersion> version = decoder_.NextVersion();
    if (!version) return;
    OnVersion(*std::move(version), now);
  }
  while (std::optional<SftpPacket> packet = decoder_.Next()) {
    const auto found = pending_.find(packet->id);
    if (found == pending_.end()) {
      throw SftpProtocolError("it sent a reply without a request");
    }
    const Pending answered = std::move(found->second);
    pending_.erase(found);
    answered.handler(std::move(packet->reply));
  }
}

void SftpClient::OnVersion(SftpVersion version, TimePoint now) {
  if (version.version < kSftpVersion) {
    throw SftpProtocolError("the guest's SFTP server supports only version " +
                            std::to_string(version.version));
  }
  version_ = std::move(version);
  if (!Offers(kLimitsExtension)) {
    state_ = State::kReady;
    return;
  }
  state_ = State::kAskingLimits;
  Send(LimitsRequest(), now, [this](SftpReply&& reply) { OnLimits(reply); });
}

void SftpClient::OnLimits(const SftpReply& reply) {
  state_ = State::kReady;
  const auto* body = std::get_if<SftpExtendedReply>(&reply);
  if (body == nullptr) return;  // the defaults stay
  const SftpLimits limits = DecodeLimits(body->body);
  const auto bounded = [](std::uint64_t length) {
    return length == 0 ? kDefaultLength
                       : static_cast<std::uint32_t>(
                             std::clamp<std::uint64_t>(length, kShortestLength, kMaximumSftpData));
  };
  maximum_read_ = bounded(limits.read_length);
  maximum_write_ = bounded(limits.write_length);
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

void SftpClient::Send(const SftpRequest& request, TimePoint now, Handler handler) {
  if (LengthOf(request) > kMaximumSftpPacket) {
    handler(SftpStatus{SftpStatusCode::kFailure, "the path is too long for SFTP"});
    return;
  }
  if (pending_.empty()) owing_since_ = now;
  const std::uint32_t id = next_id_++;
  const std::size_t before = output_.size();
  AppendRequest(output_, id, request);
  output_end_ += output_.size() - before;
  pending_.emplace(id, Pending{std::move(handler), output_end_});
}

void SftpClient::Fail(const std::string& reason) {
  for (const auto& [id, pending] : std::exchange(pending_, {})) {
    // The server runs only requests that it has received completely.
    pending.handler(SftpLost{reason, pending.output_end <= consumed_});
  }
}

}  // namespace ssh
