#include "commands/settings_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lima/configuration_error.h"
#include "lima/text_file.h"
#include "support/errors.h"
#include "support/file_descriptor.h"
#include "support/paths.h"
#include "support/random.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using support::FileDescriptor;

constexpr std::size_t kRandomDigits = 16;
constexpr unsigned kOwnerOnly = 0600;
constexpr unsigned kAnyAccess = 0777;  // less what umask(2) takes

[[noreturn]] void Fail(const std::string& what, const fs::path& path, int error) {
  throw support::CallError("cannot " + what + " " + path.string() + ": " +
                           std::generic_category().message(error));
}

/// Where `path` leads, with as much of it as exists resolved; a link to nothing counts as what it
/// points to.
fs::path TargetOf(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) Fail("resolve the links of", path, error.value());
  if (fs::is_symlink(fs::symlink_status(target, error))) {
    throw support::CallError(path.string() + " is a link to nothing; remove it or make its target");
  }
  return target;
}

/// `directory`, held open. No link is followed below `trusted`, which is above it or it itself;
/// neither has links in its path. What is missing is made, or there is no descriptor.
FileDescriptor OpenDirectory(const fs::path& directory, const fs::path& trusted, bool make) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  std::error_code error;
  if (make) fs::create_directories(trusted, error);
  if (error) Fail("make", trusted, error.value());
  fs::path path = trusted;
  FileDescriptor opened(::open(path.c_str(), kFlags));
  int reason = errno;
  for (const fs::path& name : directory.lexically_relative(trusted)) {
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

void WriteAll(int descriptor, const std::string& text, const fs::path& path) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail("write", path, errno);
    written += static_cast<std::size_t>(count);
  }
}

/// A file that is removed unless it gets the name of another one beside it.
class TemporaryFile {
 public:
  /// `directory` is that of `target`, which is for its name and for errors, and must outlive this.
  TemporaryFile(const FileDescriptor& directory, fs::path target, unsigned mode)
      : directory_(directory),
        target_(std::move(target)),
        name_("." + target_.filename().string() + ".limactl-mcp-" +
              support::RandomHex(kRandomDigits)) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    descriptor_ = FileDescriptor(::openat(directory_.get(), name_.c_str(), kFlags, mode));
    if (!descriptor_.valid()) Fail("write into", target_.parent_path(), errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!name_.empty()) ::unlinkat(directory_.get(), name_.c_str(), 0);
  }

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  void TakeItsPlace() {
    const fs::path name = target_.filename();
    if (::renameat(directory_.get(), name_.c_str(), directory_.get(), name.c_str()) != 0) {
      Fail("write", target_, errno);
    }
    name_.clear();
  }

 private:
  const FileDescriptor& directory_;
  const fs::path target_;
  std::string name_;
  FileDescriptor descriptor_;
};

}  // namespace

StoredSettings::StoredSettings(fs::path path, const std::optional<fs::path>& project, unsigned mode)
    : path_(std::move(path)),
      target_(TargetOf(path_)),
      trusted_(target_.parent_path()),
      mode_(mode) {
  if (project) {
    std::error_code error;
    const fs::path top = fs::canonical(*project, error);
    if (error) Fail("resolve the links of", *project, error.value());
    if (!support::PathBelow(target_.string(), top.string())) {
      throw support::CallError(path_.string() + " is a link out of the project, to " +
                               target_.string() + "; nothing is written there");
    }
    trusted_ = top;
  }
  text_ = Read(status_);
}

std::optional<std::string> StoredSettings::Read(struct stat& status) const {
  const FileDescriptor directory = OpenDirectory(target_.parent_path(), trusted_, false);
  if (!directory.valid()) return std::nullopt;
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  const FileDescriptor file(::openat(directory.get(), target_.filename().c_str(), kFlags));
  if (!file.valid() && errno == ENOENT) return std::nullopt;
  if (!file.valid() || ::fstat(file.get(), &status) != 0) Fail("read", target_, errno);
  try {
    return lima::ReadTextFile(file, target_, kMaximumSettingsBytes);
  } catch (const lima::ConfigurationError& error) {
    throw support::CallError(error.what());
  }
}

bool StoredSettings::is_link() const {
  std::error_code unknown;
  return fs::is_symlink(fs::symlink_status(path_, unknown));
}

void StoredSettings::Write(const std::string& text) const {
  const FileDescriptor directory = OpenDirectory(target_.parent_path(), trusted_, true);
  struct stat made {};
  const bool existed = text_.has_value();
  TemporaryFile file(directory, target_, existed ? kOwnerOnly : mode_);
  if (::fstat(file.descriptor(), &made) != 0) Fail("write", target_, errno);
  const bool others = existed && (status_.st_uid != made.st_uid || status_.st_gid != made.st_gid);
  if (others && ::fchown(file.descriptor(), status_.st_uid, status_.st_gid) != 0) {
    Fail("keep the owner of", target_, errno);
  }
  if (existed && ::fchmod(file.descriptor(), status_.st_mode & 07777U) != 0) {
    Fail("set the mode of", target_, errno);
  }
  WriteAll(file.descriptor(), text, target_);
  if (::fsync(file.descriptor()) != 0) Fail("write", target_, errno);
  file.TakeItsPlace();
  if (::fsync(directory.get()) != 0) Fail("flush", target_.parent_path(), errno);
}

void StoredSettings::Replace(const std::optional<std::string>& text, const fs::path& top) const {
  struct stat unused {};
  if (Read(unused) != text_) {
    throw support::CallError(path_.string() +
                             " has just been changed by another program; run configure again");
  }
  Put(text, top);
}

void StoredSettings::Restore(const std::optional<std::string>& replaced_by,
                             const fs::path& top) const {
  struct stat unused {};
  const std::optional<std::string> now = Read(unused);
  if (now == text_) return;
  if (now != replaced_by) {
    throw support::CallError(path_.string() + " is no longer what configure has written");
  }
  Put(text_, top);
}

void StoredSettings::Put(const std::optional<std::string>& text, const fs::path& top) const {
  if (text) {
    Write(*text);
    return;
  }
  const FileDescriptor above = OpenDirectory(target_.parent_path(), trusted_, false);
  if (!above.valid()) Fail("remove", path_, ENOENT);
  if (::unlinkat(above.get(), target_.filename().c_str(), 0) != 0) Fail("remove", path_, errno);
  RemoveEmptyDirectories(top);
}

void StoredSettings::RemoveEmptyDirectories(const fs::path& top) const {
  std::error_code unknown;
  const fs::path real_top = fs::canonical(top, unknown);
  // A link on the way is somebody's, and would be left without its target.
  if (target_ != real_top / path_.lexically_relative(top)) return;
  for (fs::path directory = target_.parent_path(); directory != real_top;
       directory = directory.parent_path()) {
    const fs::path above = directory.parent_path();
    const bool is_trusted = !support::PathBelow(above.string(), trusted_.string());
    const FileDescriptor opened = OpenDirectory(above, is_trusted ? above : trusted_, false);
    if (!opened.valid()) return;
    if (::unlinkat(opened.get(), directory.filename().c_str(), AT_REMOVEDIR) != 0) return;
  }
}

}  // namespace commands
