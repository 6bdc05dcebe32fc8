#include "ssh/sftp/sftp_codec.h"

namespace ssh {
namespace {

constexpr std::uint32_t kOpenRead = 0x01;
constexpr std::uint32_t kOpenWrite = 0x02;
constexpr std::uint32_t kOpenCreate = 0x08;
constexpr std::uint32_t kOpenExclusive = 0x20;

constexpr std::uint32_t kAttributeSize = 0x01;
constexpr std::uint32_t kAttributePermissions = 0x04;

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

/// Whether a request of this type does; those of type kOpen and kExtended have to say it
/// themselves. Closing counts: a server may write what it was given only then.
bool ChangesGuest(SftpType type) {
  switch (type) {
    case SftpType::kClose:
    case SftpType::kWrite:
    case SftpType::kFSetStat:
    case SftpType::kRemove:
    case SftpType::kMakeDirectory:
      return true;
    default:
      return false;
  }
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

}  // namespace

SftpRequest PathRequest(SftpType type, std::string_view path) {
  SftpRequest request{type, {}, {}, ChangesGuest(type)};
  AppendString(request.body, path);
  return request;
}

SftpRequest HandleRequest(SftpType type, std::string_view handle) {
  return PathRequest(type, handle);
}

SftpRequest OpenRequest(std::string_view path, guest::OpenMode mode, std::uint32_t permissions) {
  SftpRequest request = PathRequest(SftpType::kOpen, path);
  request.changes_guest = mode == guest::OpenMode::kCreateExclusive;
  Append32(request.body, OpenFlags(mode));
  guest::AttributeChange attributes;
  if (mode == guest::OpenMode::kCreateExclusive) attributes.permissions = permissions;
  AppendAttributes(request.body, attributes);
  return request;
}

SftpRequest ReadRequest(std::string_view handle, std::uint64_t offset, std::uint32_t length) {
  SftpRequest request = HandleRequest(SftpType::kRead, handle);
  Append64(request.body, offset);
  Append32(request.body, length);
  return request;
}

SftpRequest WriteRequest(std::string_view handle, std::uint64_t offset, std::string_view bytes) {
  SftpRequest request = HandleRequest(SftpType::kWrite, handle);
  Append64(request.body, offset);
  Append32(request.body, static_cast<std::uint32_t>(bytes.size()));
  request.tail = bytes;
  return request;
}

SftpRequest SetAttributesRequest(std::string_view handle, const guest::AttributeChange& change) {
  SftpRequest request = HandleRequest(SftpType::kFSetStat, handle);
  AppendAttributes(request.body, change);
  return request;
}

SftpRequest MakeDirectoryRequest(std::string_view path, std::uint32_t permissions) {
  guest::AttributeChange attributes;
  attributes.permissions = permissions;
  SftpRequest request = PathRequest(SftpType::kMakeDirectory, path);
  AppendAttributes(request.body, attributes);
  return request;
}

SftpRequest ExtendedRequest(std::string_view name, const std::vector<std::string_view>& arguments) {
  SftpRequest request = PathRequest(SftpType::kExtended, name);
  request.changes_guest = name != kLimitsExtension && name != kFileSystemExtension;
  for (const std::string_view argument : arguments) AppendString(request.body, argument);
  return request;
}

std::string InitPacket() {
  std::string out;
  Append32(out, 5);
  out += static_cast<char>(SftpType::kInit);
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

}  // namespace ssh
