#include <array>

#include "ssh/sftp/sftp_codec.h"

namespace ssh {
namespace {

using guest::OpenMode;
using guest::Operation;
using Type = SftpType;

/// All that is known of an operation.
struct Row {
  const char* name;  ///< for messages
  Type type;
  /// What is written, in this order: p path, t the second path, h handle, f flags of OPEN,
  /// a attributes, o offset, l length, b bytes.
  std::string_view fields;
  Type reply;
  bool changes_guest = false;
  std::string_view extension = {};
};

constexpr bool kChanges = true;

/// By guest::Operation.
constexpr std::array kRows = {
    Row{"stat", Type::kStat, "p", Type::kAttributes},
    Row{"stat", Type::kLStat, "p", Type::kAttributes},
    Row{"resolve", Type::kRealPath, "p", Type::kName},
    Row{"read the link", Type::kReadLink, "p", Type::kName},
    Row{"stat the file system of", Type::kExtended, "p", Type::kExtendedReply, !kChanges,
        "statvfs@openssh.com"},
    Row{"open", Type::kOpen, "pfa", Type::kHandle},
    Row{"list", Type::kOpenDirectory, "p", Type::kHandle},
    Row{"make the directory", Type::kMakeDirectory, "pa", Type::kStatus, kChanges},
    Row{"rename", Type::kExtended, "pt", Type::kStatus, kChanges, "posix-rename@openssh.com"},
    Row{"remove", Type::kRemove, "p", Type::kStatus, kChanges},
    Row{"stat", Type::kFStat, "h", Type::kAttributes},
    Row{"read", Type::kRead, "hol", Type::kData},
    Row{"write", Type::kWrite, "hob", Type::kStatus, kChanges},
    Row{"set the attributes of", Type::kFSetStat, "ha", Type::kStatus, kChanges},
    Row{"sync", Type::kExtended, "h", Type::kStatus, kChanges, "fsync@openssh.com"},
    Row{"close", Type::kClose, "h", Type::kStatus},
    Row{"list", Type::kReadDirectory, "h", Type::kName},
};
static_assert(kRows.size() == static_cast<std::size_t>(Operation::kReadDirectory) + 1);

const Row& RowOf(Operation operation) {
  return kRows.at(static_cast<std::size_t>(operation));
}

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
  Append32(out, (change.size ? kSftpAttributeSize : 0U) |
                    (change.permissions ? kSftpAttributePermissions : 0U));
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

}  // namespace

std::string Describe(const guest::Request& request) {
  return std::string(RowOf(request.operation).name) + " " + TargetOf(request);
}

std::string TargetOf(const guest::Request& request) {
  return request.to.empty() ? request.path : request.path + " to " + request.to;
}

std::string_view ExtensionOf(Operation operation) {
  return RowOf(operation).extension;
}

SftpType ReplyTypeOf(Operation operation) {
  return RowOf(operation).reply;
}

bool ChangesGuest(const guest::Request& request) {
  // A server may write the data only when it closes the file.
  return RowOf(request.operation).changes_guest || request.mode == OpenMode::kCreateExclusive ||
         (request.operation == Operation::kClose && request.handle.writes);
}

guest::Reply Failed(const guest::Request& request, guest::FileErrorCode code,
                    const std::string& detail) {
  return {{}, guest::FileError(code, RowOf(request.operation).name, TargetOf(request), detail)};
}

std::string InitPacket() {
  std::string out;
  Append32(out, 5);
  out += static_cast<char>(Type::kInit);
  Append32(out, kSftpVersion);
  return out;
}

std::string LimitsPacket(std::uint32_t id) {
  std::string packet;
  AppendHeader(packet, Type::kExtended, id, kLimitsExtension);
  std::string out;
  AppendString(out, packet);
  return out;
}

bool AppendRequest(std::string& out, std::uint32_t id, const guest::Request& request) {
  const Row& row = RowOf(request.operation);
  std::string packet;
  AppendHeader(packet, row.type, id, row.extension);
  for (const char field : row.fields) AppendField(packet, field, request);
  if (packet.size() > kMaxSftpPacket) return false;
  AppendString(out, packet);
  return true;
}

}  // namespace ssh
