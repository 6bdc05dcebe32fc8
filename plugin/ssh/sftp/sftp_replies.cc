#include <algorithm>
#include <utility>

#include "ssh/sftp/sftp_codec.h"
#include "support/printable.h"

namespace ssh {
namespace {

using guest::FileErrorCode;
using guest::Operation;
using Type = SftpType;

enum class StatusCode : std::uint32_t {
  kOk = 0,
  kEndOfFile = 1,
  kNoSuchFile = 2,
  kPermissionDenied = 3,
  kUnsupported = 8,
};

constexpr std::size_t kLengthField = 4;

constexpr std::uint64_t kFileSystemReadOnly = 0x1;

/// Most bytes of a login profile's output that an error quotes.
constexpr std::size_t kMaxShownText = 80;

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

bool IsReply(Type type) {
  return (type >= Type::kStatus && type <= Type::kAttributes) || type == Type::kExtendedReply;
}

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

std::vector<guest::DirectoryEntry> DecodeNames(Fields& fields) {
  std::vector<guest::DirectoryEntry> names;
  // The count may be wrong; the end of the packet bounds the loop.
  for (std::uint32_t left = fields.Number32(); left > 0; --left) {
    guest::DirectoryEntry entry;
    entry.name = fields.String();
    fields.String();  // the line that `ls -l` would print
    entry.attributes = DecodeAttributes(fields);
    names.push_back(std::move(entry));
  }
  return names;
}

guest::FileSystemStatus DecodeFileSystemStatus(Fields& fields) {
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

FileErrorCode CodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kNoSuchFile:
      return FileErrorCode::kNotFound;
    case StatusCode::kPermissionDenied:
      return FileErrorCode::kPermissionDenied;
    case StatusCode::kUnsupported:
      return FileErrorCode::kUnsupported;
    default:
      return FileErrorCode::kFailure;
  }
}

guest::Reply WrongKind(const guest::Request& request) {
  return Failed(request, FileErrorCode::kFailure,
                "the guest's SFTP server sent an unexpected kind of reply");
}

guest::Reply DecodeStatus(const guest::Request& request, Fields& fields) {
  const auto code = static_cast<StatusCode>(fields.Number32());
  // Old servers omit the message.
  std::string_view message = fields.empty() ? "" : fields.String();
  if (code == StatusCode::kOk) {
    return Find(request.operation).reply == Type::kStatus ? guest::Reply() : WrongKind(request);
  }
  if (code == StatusCode::kEndOfFile && request.operation == Operation::kRead) {
    return {std::string(), {}};
  }
  if (code == StatusCode::kEndOfFile && request.operation == Operation::kReadDirectory) {
    return {std::vector<guest::DirectoryEntry>(), {}};
  }
  // OpenSSH's messages only repeat the code.
  for (const char* plain :
       {"Failure", "No such file", "Permission denied", "Success", "Operation unsupported"}) {
    if (message == plain) message = {};
  }
  return Failed(request, CodeOf(code), support::Printable(message.substr(0, kMaxServerText)));
}

std::string Excerpt(std::string_view bytes) {
  const std::string_view shown = bytes.substr(0, kMaxShownText);
  return support::Printable(shown.substr(0, shown.find_last_not_of("\r\n") + 1));
}

}  // namespace

void SftpDecoder::Append(std::string_view bytes) {
  buffer_.erase(0, std::exchange(position_, 0));
  buffer_ += bytes;
}

std::optional<std::string_view> SftpDecoder::NextPacket() {
  const std::string_view bytes = rest();
  if (bytes.size() < kLengthField) return std::nullopt;
  const std::size_t length = Fields(bytes).Number32();
  if (length == 0 || length > kMaxSftpPacket) {
    throw SftpProtocolError("a packet claims " + std::to_string(length) + " bytes");
  }
  if (bytes.size() < kLengthField + length) return std::nullopt;
  position_ += kLengthField + length;
  return bytes.substr(kLengthField, length);
}

std::optional<SftpExtensions> SftpDecoder::NextVersion() {
  const std::string_view bytes = rest();
  if (bytes.size() <= kLengthField) return std::nullopt;
  const std::size_t length = Fields(bytes).Number32();
  const auto type = static_cast<std::uint8_t>(bytes[kLengthField]);
  if (length > kMaxSftpPacket || type != static_cast<std::uint8_t>(Type::kVersion)) {
    throw SftpProtocolError(
        "the guest's login profile prints text where SFTP must begin (\"" + Excerpt(bytes) +
        "\"); let the shell's start-up files in the guest (such as ~/.bashrc) print only in "
        "interactive shells");
  }
  const std::optional<std::string_view> packet = NextPacket();
  if (!packet) return std::nullopt;
  Fields fields(packet->substr(1));
  const std::uint32_t version = fields.Number32();
  if (version < kSftpVersion) {
    throw SftpProtocolError("the guest's SFTP server supports only version " +
                            std::to_string(version));
  }
  SftpExtensions extensions;
  while (!fields.empty()) {
    extensions.emplace(fields.String());
    fields.String();  // its version
  }
  return extensions;
}

std::optional<SftpPacket> SftpDecoder::Next() {
  const std::optional<std::string_view> bytes = NextPacket();
  if (!bytes) return std::nullopt;
  Fields fields(*bytes);
  SftpPacket packet;
  packet.type = static_cast<Type>(fields.Number8());
  if (!IsReply(packet.type)) {
    throw SftpProtocolError("a packet has the unknown type " +
                            std::to_string(static_cast<unsigned>(packet.type)));
  }
  packet.id = fields.Number32();
  packet.body = fields.Take(fields.size());
  return packet;
}

guest::Reply DecodeReply(const guest::Request& request, const SftpPacket& packet,
                         std::uint64_t channel) {
  Fields fields(packet.body);
  if (packet.type == Type::kStatus) return DecodeStatus(request, fields);
  if (packet.type != Find(request.operation).reply) return WrongKind(request);
  guest::Reply reply;
  if (packet.type == Type::kAttributes) {
    reply.value = DecodeAttributes(fields);
  } else if (packet.type == Type::kExtendedReply) {
    reply.value = DecodeFileSystemStatus(fields);
  } else if (packet.type == Type::kHandle) {
    const bool writes = request.mode != guest::OpenMode::kRead;
    reply.value = guest::Handle{std::string(fields.String()), channel, request.path, writes};
  } else if (packet.type == Type::kData) {
    const std::string_view bytes = fields.String();
    // Without this check, empty data before the end of file would be requested again forever.
    if (bytes.empty() || bytes.size() > request.length) {
      return Failed(request, FileErrorCode::kFailure,
                    "the guest's SFTP server sent a wrong amount of data");
    }
    reply.value = std::string(bytes);
  } else {
    std::vector<guest::DirectoryEntry> names = DecodeNames(fields);
    if (request.operation == Operation::kReadDirectory) {
      reply.value = std::move(names);
    } else if (names.size() == 1) {
      reply.value = std::move(names.front().name);
      guest::CheckPath(request, reply);
    } else {
      return WrongKind(request);
    }
  }
  return reply;
}

std::uint64_t DecodeLimits(const SftpPacket& packet) {
  if (packet.type != Type::kExtendedReply) return 0;
  Fields fields(packet.body);
  fields.Number64();  // the longest packet
  const std::uint64_t read_length = fields.Number64();
  return std::min(read_length, fields.Number64());
}

}  // namespace ssh
