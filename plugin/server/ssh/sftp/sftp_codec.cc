// SPDX-License-Identifier: Apache-2.0
#include "ssh/sftp/sftp_codec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "support/format.h"
#include "support/printable.h"

namespace ssh {
namespace {

using guest::FileErrorCode;
using guest::OpenMode;
using guest::Operation;
using Type = SftpType;

constexpr std::uint32_t kVersion = 3;

// Flags of attributes.
constexpr std::uint32_t kSize = 0x01;
constexpr std::uint32_t kOwner = 0x02;
constexpr std::uint32_t kPermissions = 0x04;
constexpr std::uint32_t kTimes = 0x08;
constexpr std::uint32_t kExtended = 0x80000000U;

constexpr bool kChanges = true;

/// By guest::Operation.
constexpr std::array kRows = {
    SftpOperation{"stat", Type::kLStat, "p", Type::kAttributes},
    SftpOperation{"resolve", Type::kRealPath, "p", Type::kName},
    SftpOperation{"read the link", Type::kReadLink, "p", Type::kName},
    SftpOperation{"stat the file system of", Type::kExtended, "p", Type::kExtendedReply, !kChanges,
                  "statvfs@openssh.com"},
    SftpOperation{"open", Type::kOpen, "pfa", Type::kHandle},
    SftpOperation{"list", Type::kOpenDirectory, "p", Type::kHandle},
    SftpOperation{"make the directory", Type::kMakeDirectory, "pa", Type::kStatus, kChanges},
    SftpOperation{"rename", Type::kExtended, "pt", Type::kStatus, kChanges,
                  "posix-rename@openssh.com"},
    SftpOperation{"remove", Type::kRemove, "p", Type::kStatus, kChanges},
    SftpOperation{"stat", Type::kFStat, "h", Type::kAttributes},
    SftpOperation{"read", Type::kRead, "hol", Type::kData},
    SftpOperation{"write", Type::kWrite, "hob", Type::kStatus, kChanges},
    SftpOperation{"set the attributes of", Type::kFSetStat, "ha", Type::kStatus, kChanges},
    SftpOperation{"sync", Type::kExtended, "h", Type::kStatus, kChanges, "fsync@openssh.com"},
    SftpOperation{"close", Type::kClose, "h", Type::kStatus},
    SftpOperation{"list", Type::kReadDirectory, "h", Type::kName},
};
static_assert(kRows.size() == static_cast<std::size_t>(Operation::kReadDirectory) + 1);

void Append32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void Append64(std::string& out, std::uint64_t value) {
  Append32(out, static_cast<std::uint32_t>(value >> 32U));
  Append32(out, static_cast<std::uint32_t>(value));
}

void AppendString(std::string& out, std::string_view value) {
  Append32(out, static_cast<std::uint32_t>(value.size()));
  out += value;
}

void AppendAttributes(std::string& out, const guest::AttributeChange& change) {
  Append32(out, (change.size ? kSize : 0U) | (change.permissions ? kPermissions : 0U));
  if (change.size) Append64(out, *change.size);
  if (change.permissions) Append32(out, *change.permissions);
}

std::uint32_t OpenFlags(OpenMode mode) {
  constexpr std::uint32_t kRead = 0x01;
  constexpr std::uint32_t kWrite = 0x02;
  constexpr std::uint32_t kCreate = 0x08;
  constexpr std::uint32_t kExclusive = 0x20;
  if (mode == OpenMode::kRead) return kRead;
  return mode == OpenMode::kWrite ? kWrite : kWrite | kCreate | kExclusive;
}

void AppendField(std::string& out, char field, const guest::Request& request) {
  switch (field) {
    case 'p':
      return AppendString(out, request.path);
    case 't':
      return AppendString(out, request.to);
    case 'h':
      return AppendString(out, request.handle.value);
    case 'f':
      return Append32(out, OpenFlags(request.mode));
    case 'a':
      return AppendAttributes(out, request.change);
    case 'o':
      return Append64(out, request.offset);
    case 'l':
      return Append32(out, static_cast<std::uint32_t>(request.length));
    default:
      return AppendString(out, request.bytes);
  }
}

/// Appends the beginning of a packet without its length.
void AppendHeader(std::string& out, Type type, std::uint32_t id, std::string_view extension) {
  out += static_cast<char>(type);
  Append32(out, id);
  if (!extension.empty()) AppendString(out, extension);
}

/// What an error says after the operation: a path, or two.
std::string TargetOf(const guest::Request& request) {
  return request.to.empty() ? request.path : support::Format("{} to {}", request.path, request.to);
}

enum class StatusCode : std::uint32_t {
  kOk = 0,
  kEndOfFile = 1,
  kNoSuchFile = 2,
  kPermissionDenied = 3,
  kUnsupported = 8,
};

constexpr std::size_t kLengthField = 4;

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

guest::FileAttributes DecodeAttributes(Fields& fields) {
  guest::FileAttributes attributes;
  const std::uint32_t flags = fields.Number32();
  if ((flags & kSize) != 0) attributes.size = fields.Number64();
  if ((flags & kOwner) != 0) {
    attributes.user_id = fields.Number32();
    attributes.group_id = fields.Number32();
  }
  if ((flags & kPermissions) != 0) {
    const std::uint32_t mode = fields.Number32();
    attributes.type = guest::FileTypeOf(mode);
    attributes.permissions = mode & 07777U;
  }
  if ((flags & kTimes) != 0) {
    fields.Number32();  // last access
    attributes.modified = fields.Number32();
  }
  if ((flags & kExtended) != 0) {
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
  status.files = fields.Number64();
  fields.Number64();  // free files
  status.free_files = fields.Number64();
  status.id = fields.Number64();
  const std::uint64_t flags = fields.Number64();
  status.maximum_name = fields.Number64();
  const bool overflows = fragment_size != 0 && available_blocks > UINT64_MAX / fragment_size;
  status.free_bytes = overflows ? UINT64_MAX : available_blocks * fragment_size;
  status.read_only = (flags & 1U) != 0;
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
  // The message for ENAMETOOLONG and EINVAL.
  if (message == "Bad message" && request.handle.value.empty()) {
    message = "the name is too long, or has characters that the file system does not allow";
  }
  return Failed(request, CodeOf(code), support::Printable(message.substr(0, kMaxServerText)));
}

}  // namespace

const SftpOperation& Find(Operation operation) {
  return kRows.at(static_cast<std::size_t>(operation));
}

std::string Describe(const guest::Request& request) {
  return support::Format("{} {}", Find(request.operation).name, TargetOf(request));
}

bool ChangesGuest(const guest::Request& request) {
  // A server may write the data only when it closes the file.
  return Find(request.operation).changes_guest || request.mode == OpenMode::kCreateExclusive ||
         (request.operation == Operation::kClose && request.handle.writes);
}

guest::Reply Failed(const guest::Request& request, guest::FileErrorCode code,
                    const std::string& detail) {
  return {{}, guest::FileError(code, Find(request.operation).name, TargetOf(request), detail)};
}

std::string InitPacket() {
  return {"\0\0\0\5\1\0\0\0\3", 9};  // length, type, version
}

std::string LimitsPacket(std::uint32_t id) {
  std::string packet;
  AppendHeader(packet, Type::kExtended, id, kLimitsExtension);
  std::string out;
  AppendString(out, packet);
  return out;
}

bool AppendRequest(std::string& out, std::uint32_t id, const guest::Request& request) {
  const SftpOperation& row = Find(request.operation);
  std::string packet;
  AppendHeader(packet, row.type, id, row.extension);
  for (const char field : row.fields) AppendField(packet, field, request);
  if (packet.size() > kMaxSftpPacket) return false;
  AppendString(out, packet);
  return true;
}

void SftpDecoder::Append(std::string_view bytes) {
  buffer_.erase(0, std::exchange(position_, 0));
  buffer_ += bytes;
}

std::optional<std::string_view> SftpDecoder::NextPacket() {
  const std::string_view bytes = rest();
  if (bytes.size() < kLengthField) return std::nullopt;
  const std::size_t length = Fields(bytes).Number32();
  if (length == 0 || length > kMaxSftpPacket) {
    throw SftpProtocolError(support::Format("a packet claims {} bytes", length));
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
    std::string_view shown = bytes.substr(0, kMaxShownText);
    shown = shown.substr(0, shown.find_last_not_of("\r\n") + 1);
    throw SftpProtocolError(
        support::Format("the guest's login profile prints text where SFTP must begin (\"{}\"); "
                        "let the shell's start-up files in the guest (such as ~/.bashrc) print "
                        "only in interactive shells",
                        support::Printable(shown)));
  }
  const std::optional<std::string_view> packet = NextPacket();
  if (!packet) return std::nullopt;
  Fields fields(packet->substr(1));
  const std::uint32_t version = fields.Number32();
  if (version < kVersion) {
    throw SftpProtocolError(
        support::Format("the guest's SFTP server supports only version {}", version));
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
  if (packet.type < Type::kStatus) throw SftpProtocolError("a packet is no reply");
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
