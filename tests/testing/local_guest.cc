#include "testing/local_guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "shell/shells.h"

extern char** environ;  // which macOS declares nowhere

namespace testing_support {
namespace {

constexpr int kMaximumLinks = 40;

/// For an errno: link loops and ENOTDIR are kNotFound, a full disk is kFailure.
[[noreturn]] void ThrowFileError(int error, const std::string& operation, const std::string& path) {
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

}  // namespace

std::string Name(Operation operation) {
  constexpr std::array kNames = {
      "Stat",     "LStat",         "ReadLink", "RealPath",  "Open",
      "List",     "MakeDirectory", "Rename",   "Unlink",    "StatFileSystem",
      "Run",      "FileStat",      "FileRead", "FileWrite", "FileSetAttributes",
      "FileSync", "FileClose"};
  return kNames.at(static_cast<std::size_t>(operation));
}

class LocalGuest::File : public SteppedFile {
 public:
  File(LocalGuest& owner, int fd, std::string path)
      : owner_(owner), fd_(fd), path_(std::move(path)) {}
  ~File() override {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  guest::FileAttributes Stat(const support::Context& context) override {
    owner_.Begin(Operation::kFileStat, path_, context);
    struct stat status {};
    if (fstat(fd_, &status) != 0) ThrowFileError(errno, "fstat", path_);
    return AttributesOf(status);
  }

  std::string Read(std::uint64_t offset, std::size_t length,
                   const support::Context& context) override {
    owner_.Begin(Operation::kFileRead, path_, context);
    std::string bytes(length, '\0');
    std::size_t done = 0;
    while (done < length) {
      const ssize_t got =
          pread(fd_, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
      if (got < 0) ThrowFileError(errno, "read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
  }

  void Write(std::uint64_t offset, std::string_view bytes,
             const support::Context& context) override {
    owner_.Begin(Operation::kFileWrite, path_, context);
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0) ThrowFileError(errno, "write", path_);
      bytes.remove_prefix(static_cast<std::size_t>(put));
      offset += static_cast<std::uint64_t>(put);
    }
  }

  void SetAttributes(const guest::AttributeChange& change,
                     const support::Context& context) override {
    owner_.Begin(Operation::kFileSetAttributes, path_, context);
    ChangeFile(fd_, change, path_);
  }

  bool Sync(const support::Context& context) override {
    if (!owner_.offers_sync_) return false;
    owner_.Begin(Operation::kFileSync, path_, context);
    if (fsync(fd_) != 0) ThrowFileError(errno, "fsync", path_);
    return true;
  }

  void Close(const support::Context& context) override {
    owner_.Begin(Operation::kFileClose, path_, context);
    if (close(std::exchange(fd_, -1)) != 0) ThrowFileError(errno, "close", path_);
  }

 private:
  LocalGuest& owner_;
  int fd_;
  std::string path_;
};

LocalGuest::LocalGuest() = default;
LocalGuest::~LocalGuest() = default;

int LocalGuest::count(Operation operation) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(operation);
  return found == counts_.end() ? 0 : found->second;
}

int LocalGuest::total() const {
  const std::lock_guard lock(mutex_);
  int sum = 0;
  for (const auto& [operation, count] : counts_) sum += count;
  return sum;
}

std::string LocalGuest::counts() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [operation, count] : counts_) {
    if (!text.empty()) text += ", ";
    text += Name(operation) + " " + std::to_string(count);
  }
  return text;
}

int LocalGuest::round_trips() const {
  const std::lock_guard lock(mutex_);
  return round_trips_;
}

std::size_t LocalGuest::server_reads() const {
  const std::lock_guard lock(mutex_);
  return server_reads_;
}

void LocalGuest::ResetCounts() {
  const std::lock_guard lock(mutex_);
  server_reads_ = 0;
  counts_.clear();
  round_trips_ = 0;
}

std::vector<guest::Reply> LocalGuest::RoundTrip(const std::vector<guest::Request>& requests,
                                                const support::Context& context) {
  {
    const std::lock_guard lock(mutex_);
    ++round_trips_;
    constexpr std::size_t kMost = 261'120;
    for (const guest::Request& request : requests) {
      if (request.operation != guest::Operation::kRead) continue;
      server_reads_ += (request.length + kMost - 1) / kMost;
    }
  }
  return SteppedGuest::RoundTrip(requests, context);
}

void LocalGuest::Begin(Operation operation, const std::string& path,
                       const support::Context& context) {
  if (path.find('\0') != std::string::npos) throw std::logic_error("NUL in a guest path");
  context.ThrowIfStopped();
  {
    const std::lock_guard lock(mutex_);
    ++counts_[operation];
  }
  const Hook hook = hook_;  // a hook may take itself away
  if (hook) hook(operation, path);
}

guest::FileAttributes LocalGuest::Stat(const std::string& path, const support::Context& context) {
  Begin(Operation::kStat, path, context);
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) ThrowFileError(errno, "stat", path);
  return AttributesOf(status);
}

guest::FileAttributes LocalGuest::LStat(const std::string& path, const support::Context& context) {
  Begin(Operation::kLStat, path, context);
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) ThrowFileError(errno, "lstat", path);
  return AttributesOf(status);
}

std::string LocalGuest::ReadLink(const std::string& path, const support::Context& context) {
  Begin(Operation::kReadLink, path, context);
  return ReadLinkOf(path);
}

std::string LocalGuest::RealPath(const std::string& path, const support::Context& context) {
  Begin(Operation::kRealPath, path, context);
  return ResolveAsServer(path);
}

std::unique_ptr<SteppedFile> LocalGuest::Open(const std::string& path, guest::OpenMode mode,
                                              std::uint32_t permissions,
                                              const support::Context& context) {
  Begin(Operation::kOpen, path, context);
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) &&
      mode != guest::OpenMode::kCreateExclusive) {
    throw support::Stopped(support::StopReason::kDeadline);
  }
  int flags = O_CLOEXEC;
  switch (mode) {
    case guest::OpenMode::kRead:
      flags |= O_RDONLY;
      break;
    case guest::OpenMode::kWrite:
      flags |= O_WRONLY;
      break;
    case guest::OpenMode::kCreateExclusive:
      flags |= O_WRONLY | O_CREAT | O_EXCL;
      break;
  }
  const int fd = open(path.c_str(), flags, static_cast<mode_t>(permissions));
  if (fd < 0) {
    if (errno == EEXIST) {
      throw guest::FileError(guest::FileErrorCode::kAlreadyExists, "open", path, "");
    }
    ThrowFileError(errno, "open", path);
  }
  return std::make_unique<File>(*this, fd, path);
}

std::vector<guest::DirectoryEntry> LocalGuest::List(const std::string& path,
                                                    const support::Context& context) {
  Begin(Operation::kList, path, context);
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (!directory) ThrowFileError(errno, "opendir", path);
  std::vector<guest::DirectoryEntry> entries;
  while (const dirent* found = readdir(directory.get())) {
    const std::string name = found->d_name;
    if (name == "." || name == "..") continue;
    struct stat status {};
    if (fstatat(dirfd(directory.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    entries.push_back({name, AttributesOf(status)});
  }
  return entries;
}

void LocalGuest::MakeDirectory(const std::string& path, std::uint32_t permissions,
                               const support::Context& context) {
  Begin(Operation::kMakeDirectory, path, context);
  if (mkdir(path.c_str(), static_cast<mode_t>(permissions)) != 0) {
    ThrowFileError(errno, "mkdir", path);
  }
}

void LocalGuest::Rename(const std::string& from, const std::string& to,
                        const support::Context& context) {
  Begin(Operation::kRename, from, context);
  if (rename(from.c_str(), to.c_str()) != 0) ThrowFileError(errno, "rename", from);
}

void LocalGuest::Unlink(const std::string& path, const support::Context& context) {
  Begin(Operation::kUnlink, path, context);
  if (unlink(path.c_str()) != 0) ThrowFileError(errno, "unlink", path);
}

guest::FileSystemStatus LocalGuest::StatFileSystem(const std::string& path,
                                                   const support::Context& context) {
  Begin(Operation::kStatFileSystem, path, context);
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) ThrowFileError(errno, "statvfs", path);
  return {.free_bytes = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize,
          .read_only = (status.f_flag & ST_RDONLY) != 0,
          .id = status.f_fsid,
          .block_size = status.f_bsize,
          .blocks = status.f_blocks,
          .maximum_name = status.f_namemax};
}

void LocalGuest::BeginRun(const std::string& text, const support::Context& context) {
  {
    const std::lock_guard lock(mutex_);
    ++round_trips_;
  }
  Begin(Operation::kRun, text, context);
}

shell::RunEnd LocalGuest::RunScript(const std::string& script, shell::OutputSink& sink,
                                    const support::Context& context) {
  BeginRun(script, context);
  return shell::Shells(*this).RunScript(script, sink, context);
}

shell::RunEnd LocalGuest::RunCommand(const shell::LoginCommand& command, shell::OutputSink& sink,
                                     const support::Context& context) {
  BeginRun(command.text, context);
  return shell::Shells(*this).RunCommand(command, sink, context);
}

std::unique_ptr<shell::Process> LocalGuest::Start(std::string command_line,
                                                  std::shared_ptr<shell::ProcessEvents> events) {
  LocalLauncher::Options options;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    options.environment.emplace_back(*variable);
  }
  auto launcher = std::make_unique<LocalLauncher>(std::move(options));
  auto process = launcher->Start(std::move(command_line), std::move(events));
  const std::lock_guard lock(mutex_);
  launchers_.push_back(std::move(launcher));
  return process;
}

}  // namespace testing_support
