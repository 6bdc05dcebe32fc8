#include "testing/local_files.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace testing_support {
namespace {

constexpr int kMaximumLinks = 40;

}  // namespace

void ThrowFileError(int error, const std::string& operation, const std::string& path) {
  guest::FileErrorCode code = guest::FileErrorCode::kFailure;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) code = guest::FileErrorCode::kNotFound;
  if (error == EPERM || error == EACCES) code = guest::FileErrorCode::kPermissionDenied;
  throw guest::FileError(code, operation, path, "");
}

guest::FileAttributes AttributesOf(const struct stat& status) {
  guest::FileAttributes attributes;
  attributes.type = guest::FileTypeOf(status.st_mode);
  attributes.permissions = static_cast<std::uint32_t>(status.st_mode & 07777);
  attributes.size = static_cast<std::uint64_t>(status.st_size);
  attributes.user_id = status.st_uid;
  attributes.group_id = status.st_gid;
  attributes.modified = status.st_mtime;
  return attributes;
}

std::string ReadLinkOf(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) ThrowFileError(errno, "readlink", path);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string ResolveAsServer(const std::string& path) {
  std::string resolved = "/";
  std::string rest = path;
  int links = 0;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const bool last = slash == std::string::npos;
    const std::string component = rest.substr(0, slash);
    rest = last ? "" : rest.substr(slash + 1);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      const std::size_t end = resolved.rfind('/');
      resolved.resize(end == 0 ? 1 : end);
      continue;
    }
    const std::string parent = resolved;
    if (resolved.back() != '/') resolved += '/';
    resolved += component;
    struct stat status {};
    if (lstat(resolved.c_str(), &status) != 0) {
      if (errno == ENOENT && last) return resolved;
      ThrowFileError(errno, "realpath", path);
    }
    if (!S_ISLNK(status.st_mode)) continue;
    if (++links > kMaximumLinks) ThrowFileError(ELOOP, "realpath", path);
    const std::string target = ReadLinkOf(resolved);
    resolved = target.starts_with('/') ? "/" : parent;
    rest = last ? target : target + '/' + rest;
  }
  return resolved;
}

void ChangeFile(int fd, const guest::AttributeChange& change, const std::string& path) {
  if (change.size && ftruncate(fd, static_cast<off_t>(*change.size)) != 0) {
    ThrowFileError(errno, "fsetstat", path);
  }
  if (change.permissions && fchmod(fd, static_cast<mode_t>(*change.permissions)) != 0) {
    ThrowFileError(errno, "fsetstat", path);
  }
}

}  // namespace testing_support
