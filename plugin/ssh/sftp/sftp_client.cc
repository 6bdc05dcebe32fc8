#include "ssh/sftp/sftp_client.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ssh {
namespace {

/// What every server takes: draft-ietf-secsh-filexfer-02, section 3, asks for packets of 34,000
/// bytes.
constexpr std::uint32_t kDefaultLength = 32 * 1024;

/// A server that states less is not believed: one burst would be more requests than may be pending.
constexpr std::uint64_t kShortestLength = 4 * 1024;

/// Already sent output is dropped from the front of the buffer once it is this long.
constexpr std::size_t kCompactAt = std::size_t{1024} * 1024;

}  // namespace

SftpClient::SftpClient(support::Clock::duration silence, TimePoint now)
    : silence_(silence),
      last_received_(now),
      last_moved_(now),
      owing_since_(now),
      output_(InitPacket()),
      output_end_(output_.size()),
      maximum_read_(kDefaultLength),
      maximum_write_(kDefaultLength) {}

void SftpClient::Receive(std::string_view bytes, TimePoint now) {
  last_received_ = now;
  last_moved_ = now;
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
      throw SftpProtocolError("a reply to a request that was never made came");
    }
    const Pending answered = std::move(found->second);
    pending_.erase(found);
    const bool opened = std::holds_alternative<SftpHandle>(packet->reply);
    if (answered.opens && !opened && open_handles_ > 0) --open_handles_;
    answered.handler(std::move(packet->reply));
  }
}

void SftpClient::OnVersion(SftpVersion version, TimePoint now) {
  if (version.version < kSftpVersion) {
    throw SftpProtocolError("the server speaks only version " + std::to_string(version.version));
  }
  version_ = std::move(version);
  if (!Offers(kLimitsExtension)) {
    state_ = State::kReady;
    return;
  }
  state_ = State::kAskingLimits;
  Send(ExtendedRequest(kLimitsExtension, {}), now, [this](SftpReply&& reply) { OnLimits(reply); });
}

void SftpClient::OnLimits(const SftpReply& reply) {
  state_ = State::kReady;
  const auto* body = std::get_if<SftpExtendedReply>(&reply);
  if (body == nullptr) return;  // offered and refused: the defaults stay
  const SftpLimits limits = DecodeLimits(body->body);
  const auto bounded = [](std::uint64_t length) {
    return length == 0 ? kDefaultLength
                       : static_cast<std::uint32_t>(
                             std::clamp<std::uint64_t>(length, kShortestLength, kMaximumSftpData));
  };
  maximum_read_ = bounded(limits.read_length);
  maximum_write_ = bounded(limits.write_length);
}

void SftpClient::Consumed(std::size_t count, TimePoint now) {
  if (count == 0) return;
  last_moved_ = now;
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
  const bool closes = request.type == SftpType::kClose;
  if (pending_.size() >= kMaximumPending && !closes) {
    handler(SftpLost{"too many SFTP requests at once", false});
    return;
  }
  if (LengthOf(request) > kMaximumSftpPacket) {
    handler(SftpStatus{SftpStatusCode::kFailure, "longer than a packet of SFTP can be"});
    return;
  }
  if (pending_.empty()) last_moved_ = owing_since_ = now;
  // Ids wrap around; one that is still pending is not given twice.
  while (pending_.find(next_id_) != pending_.end()) ++next_id_;
  const std::uint32_t id = next_id_++;
  const std::size_t before = output_.size();
  AppendRequest(output_, id, request);
  output_end_ += output_.size() - before;
  const bool opens = request.type == SftpType::kOpen || request.type == SftpType::kOpenDirectory;
  pending_.emplace(id, Pending{std::move(handler), output_end_, opens});
  if (opens) ++open_handles_;
  if (closes && open_handles_ > 0) --open_handles_;
}

void SftpClient::Fail(const std::string& reason) {
  std::vector<Pending> lost;
  for (auto& [id, pending] : std::exchange(pending_, {})) lost.push_back(std::move(pending));
  // The oldest first: of an operation of many requests it is the one that was sent, if any was.
  std::sort(lost.begin(), lost.end(),
            [](const Pending& a, const Pending& b) { return a.output_end < b.output_end; });
  for (const Pending& pending : lost) {
    // A request counts as sent with its last byte: the server does not act on less.
    pending.handler(SftpLost{reason, pending.output_end <= consumed_});
  }
}

SftpClient::TimePoint SftpClient::SilenceEnds() const {
  if (state_ == State::kReady && pending_.empty()) return TimePoint::max();
  return last_moved_ + silence_;
}

}  // namespace ssh
