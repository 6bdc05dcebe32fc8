#include <algorithm>

#include "ssh/sftp/sftp_codec.h"
#include "ssh/sftp/sftp_numbers.h"
#include "support/printable.h"

namespace ssh {
namespace {

using Type = SftpType;

constexpr std::size_t kLengthField = 4;

constexpr std::uint64_t kFileSystemReadOnly = 0x1;

/// In bytes: the lengths of two strings, and the flags of the attributes.
constexpr std::size_t kShortestEntry = 3 * sizeof(std::uint32_t);

/// Most bytes of a login profile's output that an error quotes.
constexpr std::size_t kShownText = 80;

/// Reads the fields of one packet. Throws if the packet ends too early.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::string_view Take(std::size_t count) {
    if (count > rest_.size()) throw SftpProtocolError("a packet ends within a field");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint8_t Number8() { return static_cast<std::uint8_t>(Take(1).front()); }
  std::uint32_t Number32() {
    std::uint32_t value = 0;
    for (const char c : Take(4)) value = (value << 8U) | static_cast<std::uint8_t>(c);
    return value;
  }
  std::uint64_t Number64() {
    const std::uint64_t high = Number32();
    return (high << 32U) | Number32();
  }
  std::string_view String() { return Take(Number32()); }
  [[nodiscard]] std::size_t size() const { return rest_.size(); }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

guest::FileAttributes DecodeAttributes(Fields& fields) {
  guest::FileAttributes attributes;
  const std::uint32_t flags = fields.Number32();
  if ((flags & kSftpAttributeSize) != 0) attributes.size = fields.Number64();
  if ((flags & kSftpAttributeOwner) != 0) {
    attributes.user_id = fields.Number32();
    attributes.group_id = fields.Number32();
  }
  if ((flags & kSftpAttributePermissions) != 0) {
    const std::uint32_t mode = fields.Number32();
    attributes.type = guest::FileTypeOf(mode);
    attributes.permissions = mode & 07777U;
  }
  if ((flags & kSftpAttributeTimes) != 0) {
    fields.Number32();  // last access
    attributes.modified = fields.Number32();
  }
  if ((flags & kSftpAttributeExtended) != 0) {
    // The end of the packet bounds the loop.
    for (std::uint32_t left = fields.Number32(); left > 0; --left) {
      fields.String();
      fields.String();
    }
  }
  return attributes;
}

SftpNames DecodeNames(Fields& fields) {
  SftpNames names;
  // The count may be wrong; the end of the packet bounds the loop.
  std::uint32_t left = fields.Number32();
  names.entries.reserve(std::min<std::size_t>(left, fields.size() / kShortestEntry));
  for (; left > 0; --left) {
    guest::DirectoryEntry entry;
    entry.name = fields.String();
    fields.String();  // the line that `ls -l` would print
    entry.attributes = DecodeAttributes(fields);
    names.entries.push_back(std::move(entry));
  }
  return names;
}

SftpStatus DecodeStatus(Fields& fields) {
  SftpStatus status;
  status.code = static_cast<SftpStatusCode>(fields.Number32());
  // Old servers omit the message.
  if (!fields.empty()) status.message = fields.String();
  return status;
}

std::string Excerpt(std::string_view bytes) {
  const std::string_view shown = bytes.substr(0, kShownText);
  return support::Printable(shown.substr(0, shown.find_last_not_of("\r\n") + 1));
}

}  // namespace

void SftpDecoder::Append(std::string_view bytes) {
  if (position_ > 0) {
    buffer_.erase(0, position_);
    position_ = 0;
  }
  buffer_ += bytes;
}

std::optional<std::string_view> SftpDecoder::NextPacket() {
  const std::string_view bytes = rest();
  if (bytes.size() < kLengthField) return std::nullopt;
  const std::size_t length = Fields(bytes).Number32();
  if (length == 0 || length > kMaximumSftpPacket) {
    throw SftpProtocolError("a packet claims " + std::to_string(length) + " bytes");
  }
  if (bytes.size() < kLengthField + length) return std::nullopt;
  position_ += kLengthField + length;
  return bytes.substr(kLengthField, length);
}

std::optional<SftpVersion> SftpDecoder::NextVersion() {
  const std::string_view bytes = rest();
  if (bytes.size() <= kLengthField) return std::nullopt;
  const std::size_t length = Fields(bytes).Number32();
  const auto type = static_cast<std::uint8_t>(bytes[kLengthField]);
  if (length > kMaximumSftpPacket || type != static_cast<std::uint8_t>(Type::kVersion)) {
    throw SftpProtocolError(
        "the guest's login profile prints text where SFTP must begin (\"" + Excerpt(bytes) +
        "\"); let the shell's start-up files in the guest (such as ~/.bashrc) print only in "
        "interactive shells");
  }
  const std::optional<std::string_view> packet = NextPacket();
  if (!packet) return std::nullopt;
  Fields fields(packet->substr(1));
  SftpVersion version;
  version.version = fields.Number32();
  while (!fields.empty()) {
    std::string name(fields.String());
    version.extensions.insert_or_assign(std::move(name), std::string(fields.String()));
  }
  return version;
}

std::optional<SftpPacket> SftpDecoder::Next() {
  const std::optional<std::string_view> bytes = NextPacket();
  if (!bytes) return std::nullopt;
  Fields fields(*bytes);
  const auto type = static_cast<Type>(fields.Number8());
  SftpPacket packet;
  packet.id = fields.Number32();
  switch (type) {
    case Type::kStatus:
      packet.reply = DecodeStatus(fields);
      break;
    case Type::kHandle:
      packet.reply = SftpHandle{std::string(fields.String())};
      break;
    case Type::kData:
      packet.reply = SftpData{fields.String()};
      break;
    case Type::kName:
      packet.reply = DecodeNames(fields);
      break;
    case Type::kAttributes:
      packet.reply = DecodeAttributes(fields);
      break;
    case Type::kExtendedReply:
      packet.reply = SftpExtendedReply{std::string(bytes->substr(1 + 4))};
      break;
    default:
      throw SftpProtocolError("a packet has the unknown type " +
                              std::to_string(static_cast<unsigned>(type)));
  }
  return packet;
}

SftpLimits DecodeLimits(std::string_view body) {
  Fields fields(body);
  SftpLimits limits;
  fields.Number64();  // the longest packet
  limits.read_length = fields.Number64();
  limits.write_length = fields.Number64();
  fields.Number64();  // the most open handles
  return limits;
}

guest::FileSystemStatus DecodeFileSystemStatus(std::string_view body) {
  Fields fields(body);
  guest::FileSystemStatus status;
  status.block_size = fields.Number64();
  const std::uint64_t fragment_size = fields.Number64();
  status.blocks = fields.Number64();
  fields.Number64();  // free blocks
  const std::uint64_t available_blocks = fields.Number64();
  for (int i = 0; i < 3; ++i) fields.Number64();  // counts of files
  status.id = fields.Number64();
  const std::uint64_t flags = fields.Number64();
  status.maximum_name = fields.Number64();
  const bool overflows = fragment_size != 0 && available_blocks > UINT64_MAX / fragment_size;
  status.free_bytes = overflows ? UINT64_MAX : available_blocks * fragment_size;
  status.read_only = (flags & kFileSystemReadOnly) != 0;
  return status;
}

}  // namespace ssh
