// SPDX-License-Identifier: Apache-2.0
#include "testing/local_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace testing_support {
namespace {

constexpr int kMaxLinks = 40;

/// For an errno: link loops and ENOTDIR are kNotFound, a full disk is kFailure.
[[noreturn]] void ThrowFileError(int error, const std::string& operation, const std::string& path) {
  guest::FileErrorCode code = guest::FileErrorCode::kFailure;
  if (error == ENOENT || error == ENOTDIR || error == ELOOP) code = guest::FileErrorCode::kNotFound;
  if (error == EPERM || error == EACCES) code = guest::FileErrorCode::kPermissionDenied;
  throw guest::FileError(code, operation, path, "");
}

/// Throws the errno of a system call that returned a negative result.
void Check(ssize_t result, const guest::Request& request, const char* operation) {
  if (result < 0) ThrowFileError(errno, operation, request.path);
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

/// As sftp_realpath: only the last component may be missing.
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
    if (++links > kMaxLinks) ThrowFileError(ELOOP, "realpath", path);
    const std::string target = ReadLinkOf(resolved);
    resolved = target.starts_with('/') ? "/" : parent;
    rest = last ? target : target + '/' + rest;
  }
  return resolved;
}

void ChangeHere(int fd, const guest::Request& request) {
  const auto& [permissions, size] = request.change;
  if (size) Check(ftruncate(fd, static_cast<off_t>(*size)), request, "fsetstat");
  if (permissions) Check(fchmod(fd, static_cast<mode_t>(*permissions)), request, "fsetstat");
}

int OpenFileHere(const guest::Request& request) {
  const std::string& path = request.path;
  struct stat status {};
  if (request.mode != guest::OpenMode::kCreateExclusive && stat(path.c_str(), &status) == 0 &&
      S_ISFIFO(status.st_mode)) {
    throw support::Stopped(support::StopReason::kDeadline);
  }
  int flags = O_CLOEXEC;
  if (request.mode == guest::OpenMode::kRead) flags |= O_RDONLY;
  if (request.mode == guest::OpenMode::kWrite) flags |= O_WRONLY;
  if (request.mode == guest::OpenMode::kCreateExclusive) flags |= O_WRONLY | O_CREAT | O_EXCL;
  const int fd =
      open(path.c_str(), flags, static_cast<mode_t>(request.change.permissions.value_or(0)));
  Check(fd, request, "open");
  return fd;
}

/// With ".", without "..".
std::vector<guest::DirectoryEntry> ListHere(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (!directory) ThrowFileError(errno, "opendir", path);
  std::vector<guest::DirectoryEntry> entries;
  while (const dirent* found = readdir(directory.get())) {
    const std::string name = found->d_name;
    struct stat status {};
    if (name == ".." ||
        fstatat(dirfd(directory.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    entries.push_back({name, AttributesOf(status)});
  }
  return entries;
}

guest::FileSystemStatus StatFileSystemHere(const guest::Request& request) {
  struct statvfs status {};
  Check(statvfs(request.path.c_str(), &status), request, "statvfs");
  return {.free_bytes = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize,
          .read_only = (status.f_flag & ST_RDONLY) != 0,
          .id = status.f_fsid,
          .block_size = status.f_bsize,
          .blocks = status.f_blocks,
          .maximum_name = status.f_namemax};
}

std::string ReadHere(int fd, const guest::Request& request) {
  std::string bytes(request.length, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = pread(fd, bytes.data() + done, bytes.size() - done,
                              static_cast<off_t>(request.offset + done));
    Check(got, request, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

void WriteHere(int fd, const guest::Request& request) {
  std::size_t done = 0;
  while (done < request.bytes.size()) {
    const ssize_t put = pwrite(fd, request.bytes.data() + done, request.bytes.size() - done,
                               static_cast<off_t>(request.offset + done));
    Check(put, request, "write");
    done += static_cast<std::size_t>(put);
  }
}

}  // namespace

LocalFile OpenHere(const guest::Request& request) {
  if (request.operation == guest::Operation::kOpenDirectory) return {{}, ListHere(request.path)};
  return {support::FileDescriptor(OpenFileHere(request)), {}};
}

guest::Reply ReplyHere(const guest::Request& request, LocalFile& file) {
  const std::string& path = request.path;
  const int fd = file.descriptor.get();
  struct stat status {};
  switch (request.operation) {
    case guest::Operation::kLStat:
      Check(lstat(path.c_str(), &status), request, "lstat");
      return {AttributesOf(status), {}};
    case guest::Operation::kRealPath:
      return {ResolveAsServer(path), {}};
    case guest::Operation::kReadLink:
      return {ReadLinkOf(path), {}};
    case guest::Operation::kStatFileSystem:
      return {StatFileSystemHere(request), {}};
    case guest::Operation::kMakeDirectory:
      Check(mkdir(path.c_str(), static_cast<mode_t>(request.change.permissions.value())), request,
            "mkdir");
      return {};
    case guest::Operation::kRename:
      Check(rename(path.c_str(), request.to.c_str()), request, "rename");
      return {};
    case guest::Operation::kUnlink:
      Check(unlink(path.c_str()), request, "unlink");
      return {};
    case guest::Operation::kStatOpen:
      Check(fstat(fd, &status), request, "fstat");
      return {AttributesOf(status), {}};
    case guest::Operation::kRead:
      return {ReadHere(fd, request), {}};
    case guest::Operation::kWrite:
      WriteHere(fd, request);
      return {};
    case guest::Operation::kSetAttributes:
      ChangeHere(fd, request);
      return {};
    case guest::Operation::kSync:
      Check(fsync(fd), request, "fsync");
      return {};
    case guest::Operation::kReadDirectory:
      return {std::exchange(file.names, {}), {}};
    case guest::Operation::kOpen:
    case guest::Operation::kOpenDirectory:
      throw std::logic_error("OpenHere opens");
    case guest::Operation::kClose:
      return {};
  }
  throw std::logic_error("an unknown operation");
}

}  // namespace testing_support
