#include "ssh/sftp/sftp_codec.h"

#include <algorithm>

#include "support/printable.h"

namespace ssh {
namespace {

namespace request = guest::request;

enum class Type : std::uint8_t {
  kInit = 1,
  kVersion = 2,
  kOpen = 3,
  kClose = 4,
  kRead = 5,
  kWrite = 6,
  kLStat = 7,
  kFStat = 8,
  kFSetStat = 10,
  kOpenDirectory = 11,
  kReadDirectory = 12,
  kRemove = 13,
  kMakeDirectory = 14,
  kRealPath = 16,
  kStat = 17,
  kReadLink = 19,
  kStatus = 101,
  kHandle = 102,
  kData = 103,
  kName = 104,
  kAttributes = 105,
  kExtended = 200,
  kExtendedReply = 201,
};

constexpr std::size_t kLengthField = 4;

constexpr std::uint32_t kAttributeSize = 0x01;
constexpr std::uint32_t kAttributeOwner = 0x02;
constexpr std::uint32_t kAttributePermissions = 0x04;
constexpr std::uint32_t kAttributeTimes = 0x08;
constexpr std::uint32_t kAttributeExtended = 0x80000000U;

constexpr std::uint64_t kFileSystemReadOnly = 0x1;

/// In bytes: two strings and the flags of attributes.
constexpr std::size_t kShortestEntry = 3 * sizeof(std::uint32_t);

/// How much of a login profile's text an error quotes, in bytes.
constexpr std::size_t kShownText = 80;

constexpr std::uint32_t kOpenRead = 0x01;
constexpr std::uint32_t kOpenWrite = 0x02;
constexpr std::uint32_t kOpenCreate = 0x08;
constexpr std::uint32_t kOpenExclusive = 0x20;

void Append32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((value >> shift) & 0xFFU);
}

void Append64(std::string& out, std::uint64_t value) {
  Append32(out, static_cast<std::uint32_t>(value >> 32U));
  Append32(out, static_cast<std::uint32_t>(value & 0xFFFFFFFFU));
}

void AppendString(std::string& out, std::string_view value) {
  Append32(out, static_cast<std::uint32_t>(value.size()));
  out += value;
}

void AppendAttributes(std::string& out, const guest::AttributeChange& change) {
  Append32(out,
           (change.size ? kAttributeSize : 0U) | (change.permissions ? kAttributePermissions : 0U));
  if (change.size) Append64(out, *change.size);
  if (change.permissions) Append32(out, *change.permissions);
}

std::uint32_t OpenFlags(guest::OpenMode mode) {
  switch (mode) {
    case guest::OpenMode::kRead:
      return kOpenRead;
    case guest::OpenMode::kWrite:
      return kOpenWrite;
    case guest::OpenMode::kCreateExclusive:
      return kOpenWrite | kOpenCreate | kOpenExclusive;
  }
  return kOpenRead;
}

/// A request whose body begins with a path or a handle.
SftpRequest Simple(const char* operation, Type type, std::size_t wanted,
                   std::string_view path_or_handle) {
  SftpRequest made{operation, static_cast<std::uint8_t>(type), wanted, {}};
  AppendString(made.body, path_or_handle);
  return made;
}

SftpRequest Changing(SftpRequest made) {
  made.changes_guest = true;
  return made;
}

SftpRequest Extended(const char* operation, std::size_t wanted, std::string_view extension,
                     std::initializer_list<std::string_view> arguments) {
  SftpRequest made = Simple(operation, Type::kExtended, wanted, extension);
  made.extension = extension;
  for (const std::string_view argument : arguments) AppendString(made.body, argument);
  return made;
}

struct ToSftp {
  SftpRequest operator()(const request::Stat& request) const {
    return Simple("stat", Type::kStat, kAttributes, request.path);
  }
  SftpRequest operator()(const request::LStat& request) const {
    return Simple("stat", Type::kLStat, kAttributes, request.path);
  }
  SftpRequest operator()(const request::RealPath& request) const {
    return Simple("resolve", Type::kRealPath, kNames, request.path);
  }
  SftpRequest operator()(const request::ReadLink& request) const {
    return Simple("read the link", Type::kReadLink, kNames, request.path);
  }
  SftpRequest operator()(const request::StatFileSystem& request) const {
    return Extended("stat the file system of", kExtendedReply, "statvfs@openssh.com",
                    {request.path});
  }
  SftpRequest operator()(const request::Open& request) const {
    const bool creates = request.mode == guest::OpenMode::kCreateExclusive;
    SftpRequest made = Simple("open", Type::kOpen, kHandle, request.path);
    made.changes_guest = creates;
    Append32(made.body, OpenFlags(request.mode));
    AppendAttributes(made.body, {creates ? std::optional(request.permissions) : std::nullopt, {}});
    return made;
  }
  SftpRequest operator()(const request::OpenDirectory& request) const {
    return Simple("list", Type::kOpenDirectory, kHandle, request.path);
  }
  SftpRequest operator()(const request::MakeDirectory& request) const {
    SftpRequest made =
        Changing(Simple("make the directory", Type::kMakeDirectory, kStatus, request.path));
    AppendAttributes(made.body, {request.permissions, {}});
    return made;
  }
  SftpRequest operator()(const request::Rename& request) const {
    return Changing(
        Extended("rename", kStatus, "posix-rename@openssh.com", {request.from, request.to}));
  }
  SftpRequest operator()(const request::Unlink& request) const {
    return Changing(Simple("remove", Type::kRemove, kStatus, request.path));
  }
  SftpRequest operator()(const request::StatOpen& request) const {
    return Simple("stat", Type::kFStat, kAttributes, request.handle.value);
  }
  SftpRequest operator()(const request::Read& request) const {
    SftpRequest made = Simple("read", Type::kRead, kData, request.handle.value);
    Append64(made.body, request.offset);
    Append32(made.body, static_cast<std::uint32_t>(request.length));
    return made;
  }
  SftpRequest operator()(const request::Write& request) const {
    SftpRequest made = Changing(Simple("write", Type::kWrite, kStatus, request.handle.value));
    Append64(made.body, request.offset);
    Append32(made.body, static_cast<std::uint32_t>(request.bytes.size()));
    made.tail = request.bytes;
    return made;
  }
  SftpRequest operator()(const request::SetAttributes& request) const {
    SftpRequest made =
        Changing(Simple("set the attributes of", Type::kFSetStat, kStatus, request.handle.value));
    AppendAttributes(made.body, request.change);
    return made;
  }
  SftpRequest operator()(const request::Sync& request) const {
    return Changing(Extended("sync", kStatus, "fsync@openssh.com", {request.handle.value}));
  }
  SftpRequest operator()(const request::Close& request) const {
    SftpRequest made = Simple("close", Type::kClose, kStatus, request.handle.value);
    // A server may write data as late as now.
    made.changes_guest = request.handle.writes;
    return made;
  }
  SftpRequest operator()(const request::ReadDirectory& request) const {
    return Simple("list", Type::kReadDirectory, kNames, request.handle.value);
  }
};

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
  if ((flags & kAttributeSize) != 0) attributes.size = fields.Number64();
  if ((flags & kAttributeOwner) != 0) {
    attributes.user_id = fields.Number32();
    attributes.group_id = fields.Number32();
  }
  if ((flags & kAttributePermissions) != 0) {
    const std::uint32_t mode = fields.Number32();
    attributes.type = guest::FileTypeOf(mode);
    attributes.permissions = mode & 07777U;
  }
  if ((flags & kAttributeTimes) != 0) {
    fields.Number32();  // last access
    attributes.modified = fields.Number32();
  }
  if ((flags & kAttributeExtended) != 0) {
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
  // Old servers leave the message out.
  if (!fields.empty()) status.message = fields.String();
  return status;
}

std::string Excerpt(std::string_view bytes) {
  const std::string_view shown = bytes.substr(0, kShownText);
  return support::Printable(shown.substr(0, shown.find_last_not_of("\r\n") + 1));
}

}  // namespace

SftpRequest MakeRequest(const guest::Request& request) {
  return std::visit(ToSftp(), request);
}

SftpRequest LimitsRequest() {
  return Extended("request the limits", kExtendedReply, kLimitsExtension, {});
}

std::string InitPacket() {
  std::string out;
  Append32(out, 5);
  out += static_cast<char>(Type::kInit);
  Append32(out, kSftpVersion);
  return out;
}

std::size_t LengthOf(const SftpRequest& request) {
  return 1 + 4 + request.body.size() + request.tail.size();  // after type and id
}

void AppendRequest(std::string& out, std::uint32_t id, const SftpRequest& request) {
  Append32(out, static_cast<std::uint32_t>(LengthOf(request)));
  out += static_cast<char>(request.type);
  Append32(out, id);
  out += request.body;
  out += request.tail;
}

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
