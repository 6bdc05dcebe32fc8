#include <algorithm>
#include <initializer_list>

#include "ssh/sftp/sftp_codec.h"
#include "ssh/sftp/sftp_numbers.h"

namespace ssh {
namespace {

namespace request = guest::request;
using Type = SftpType;

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
  Append32(out, (change.size ? kSftpAttributeSize : 0U) |
                    (change.permissions ? kSftpAttributePermissions : 0U));
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
    // A server may write the data only now.
    made.changes_guest = request.handle.writes;
    return made;
  }
  SftpRequest operator()(const request::ReadDirectory& request) const {
    return Simple("list", Type::kReadDirectory, kNames, request.handle.value);
  }
};

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

}  // namespace ssh
