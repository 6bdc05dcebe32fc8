// SPDX-License-Identifier: Apache-2.0
#include "configure/stored_settings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lima/text_file.h"
#include "support/errors.h"
#include "support/random.h"

namespace configure {
namespace {

namespace fs = std::filesystem;
using support::FileDescriptor;

constexpr std::size_t kRandomDigits = 16;
// Less umask(2).
constexpr unsigned kOwnerOnly = 0600;
constexpr unsigned kProjectFile = 0644;
constexpr unsigned kAnyAccess = 0777;

[[noreturn]] void Fail(const std::string& what, const fs::path& path, int error) {
  std::error_code unknown;
  throw support::CommandError("cannot {} {}: {}", what, path.string(),
                              fs::is_symlink(path, unknown)
                                  ? "it is a link in a project or to nothing; replace it by a file"
                                  : std::generic_category().message(error));
}

/// Is removed unless it was renamed.
struct TemporaryFile {
  int directory;
  std::string name;

  ~TemporaryFile() { ::unlinkat(directory, name.c_str(), 0); }
};

}  // namespace

StoredSettings::StoredSettings(fs::path path, const std::optional<fs::path>& project)
    : path_(std::move(path)),
      target_(project ? path_ : fs::weakly_canonical(path_)),
      trusted_(project.value_or(target_.parent_path())),
      new_mode_(project ? kProjectFile : kOwnerOnly),
      text_(Read()) {}

FileDescriptor StoredSettings::OpenDirectory(bool make) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  std::error_code error;
  if (make) fs::create_directories(trusted_, error);
  if (error) Fail("make", trusted_, error.value());
  fs::path path = trusted_;
  FileDescriptor opened(::open(path.c_str(), kFlags));
  int reason = errno;
  for (const fs::path& name : target_.parent_path().lexically_relative(trusted_)) {
    if (name == "." || !opened.valid()) break;
    path /= name;
    if (make && ::mkdirat(opened.get(), name.c_str(), kAnyAccess) != 0 && errno != EEXIST) {
      Fail("make", path, errno);
    }
    FileDescriptor next(::openat(opened.get(), name.c_str(), kFlags | O_NOFOLLOW));
    reason = errno;
    opened = std::move(next);
  }
  if (!opened.valid() && (make || reason != ENOENT)) Fail(make ? "make" : "open", path, reason);
  return opened;
}

std::optional<std::string> StoredSettings::Read() const {
  const FileDescriptor directory = OpenDirectory(false);
  if (!directory.valid()) return std::nullopt;
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  const FileDescriptor file(::openat(directory.get(), target_.filename().c_str(), kFlags));
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  if (!file.valid()) Fail("read", target_, errno);
  return lima::ReadTextFile(file, target_, kMaxSettingsBytes);
}

void StoredSettings::RequireUnchanged() const {
  if (Read() == text_) return;
  throw support::CommandError("{} was just changed by another program; try again", path_.string());
}

void StoredSettings::Write(const std::string& text) const {
  const FileDescriptor directory = OpenDirectory(true);
  const fs::path name = target_.filename();
  const TemporaryFile temporary{
      directory.get(), "." + name.string() + ".limactl-mcp-" + support::RandomHex(kRandomDigits)};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const FileDescriptor file(
      ::openat(directory.get(), temporary.name.c_str(), kFlags, text_ ? kOwnerOnly : new_mode_));
  if (!file.valid()) Fail("write into", target_.parent_path(), errno);
  struct stat old {};
  const bool keeps = ::fstatat(directory.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (keeps && ::fchown(file.get(), old.st_uid, old.st_gid) != 0) {
    Fail("keep the owner of", target_, errno);
  }
  if (keeps && ::fchmod(file.get(), old.st_mode & 07777U) != 0) {
    Fail("set the mode of", target_, errno);
  }
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written >= 0 && written < std::ssize(text)) Fail("write", target_, ENOSPC);
  if (written < 0 || ::fsync(file.get()) != 0) Fail("write", target_, errno);
  RequireUnchanged();
  if (::renameat(directory.get(), temporary.name.c_str(), directory.get(), name.c_str()) != 0) {
    Fail("write", target_, errno);
  }
}

void StoredSettings::Remove() const {
  RequireUnchanged();
  const FileDescriptor directory = OpenDirectory(false);
  if (directory.valid() && ::unlinkat(directory.get(), target_.filename().c_str(), 0) != 0) {
    Fail("remove", path_, errno);
  }
  for (fs::path empty = target_.parent_path(); empty != trusted_; empty = empty.parent_path()) {
    if (::rmdir(empty.c_str()) != 0) return;
  }
}

}  // namespace configure
