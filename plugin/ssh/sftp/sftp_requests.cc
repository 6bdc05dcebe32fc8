#include <array>

#include "ssh/sftp/sftp_codec.h"

namespace ssh {
namespace {

using guest::OpenMode;
using guest::Operation;
using Type = SftpType;

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

/// What an error says after the operation: a path, or two.
std::string TargetOf(const guest::Request& request) {
  return request.to.empty() ? request.path : request.path + " to " + request.to;
}

}  // namespace

const SftpOperation& Find(Operation operation) {
  return kRows.at(static_cast<std::size_t>(operation));
}

std::string Describe(const guest::Request& request) {
  return std::string(Find(request.operation).name) + " " + TargetOf(request);
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
  const SftpOperation& row = Find(request.operation);
  std::string packet;
  AppendHeader(packet, row.type, id, row.extension);
  for (const char field : row.fields) AppendField(packet, field, request);
  if (packet.size() > kMaxSftpPacket) return false;
  AppendString(out, packet);
  return true;
}

}  // namespace ssh
