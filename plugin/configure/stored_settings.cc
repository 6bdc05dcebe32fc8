#include "configure/stored_settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lima/configuration_error.h"
#include "lima/sha256.h"
#include "lima/text_file.h"
#include "support/errors.h"
#include "support/file_descriptor.h"
#include "support/paths.h"
#include "support/random.h"

namespace configure {
namespace {

namespace fs = std::filesystem;
using support::FileDescriptor;

constexpr std::size_t kRandomDigits = 16;
constexpr unsigned kOwnerOnly = 0600;
constexpr unsigned kAnyAccess = 0777;  // less umask(2)

[[noreturn]] void Fail(const std::string& what, const fs::path& path, int error) {
  throw support::CallError("cannot " + what + " " + path.string() + ": " +
                           std::generic_category().message(error));
}

fs::path ResolveLinks(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(path, error);
  if (error) Fail("resolve the links of", path, error.value());
  if (fs::is_symlink(fs::symlink_status(target, error))) {
    throw support::CallError(path.string() +
                             " is a link to nothing; remove it or create its target");
  }
  return target;
}

/// Opens `directory`, which is `trusted` or below it, and follows no link below `trusted`. With
/// `make`, makes what is missing; without it, the result may be invalid.
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

void WriteAll(int descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) Fail("write", path, errno);
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(descriptor) != 0) Fail("write", path, errno);
}

}  // namespace

/// Is removed unless it was renamed.
struct StoredSettings::TemporaryFile {
  FileDescriptor directory;
  std::string name;

  ~TemporaryFile() { ::unlinkat(directory.get(), name.c_str(), 0); }
};

StoredSettings::StoredSettings(fs::path path, const std::optional<fs::path>& project, unsigned mode)
    : path_(std::move(path)),
      target_(ResolveLinks(path_)),
      trusted_(target_.parent_path()),
      mode_(mode) {
  if (project) {
    trusted_ = ResolveLinks(*project);
    if (!support::PathBelow(target_.string(), trusted_.string())) {
      throw support::CallError(path_.string() + " is a link out of the project, to " +
                               target_.string() + "; remove the link");
    }
  }
  text_ = Read(status_);
}

StoredSettings::StoredSettings(StoredSettings&& other) noexcept = default;
StoredSettings& StoredSettings::operator=(StoredSettings&& other) noexcept = default;
StoredSettings::~StoredSettings() = default;

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

void StoredSettings::Prepare(const std::string& text) {
  const std::string name =
      "." + target_.filename().string() + ".limactl-mcp-" + support::RandomHex(kRandomDigits);
  FileDescriptor directory = OpenDirectory(target_.parent_path(), trusted_, true);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const FileDescriptor file(
      ::openat(directory.get(), name.c_str(), kFlags, text_ ? kOwnerOnly : mode_));
  if (!file.valid()) Fail("write into", target_.parent_path(), errno);
  temporary_.reset(new TemporaryFile{std::move(directory), name});
  if (text_) {
    struct stat made {};
    if (::fstat(file.get(), &made) != 0) Fail("write", target_, errno);
    const bool is_anothers = status_.st_uid != made.st_uid || status_.st_gid != made.st_gid;
    if (is_anothers && ::fchown(file.get(), status_.st_uid, status_.st_gid) != 0) {
      Fail("keep the owner of", target_, errno);
    }
    if (::fchmod(file.get(), status_.st_mode & 07777U) != 0) {
      Fail("set the mode of", target_, errno);
    }
  }
  WriteAll(file.get(), text, target_);
}

void StoredSettings::Commit(const fs::path& top) {
  struct stat unused {};
  if (Read(unused) != text_) {
    throw support::CallError(path_.string() + " was just changed by another program; try again");
  }
  if (!temporary_) return Remove(top);
  const int directory = temporary_->directory.get();
  const fs::path name = target_.filename();
  if (::renameat(directory, temporary_->name.c_str(), directory, name.c_str()) != 0) {
    Fail("write", target_, errno);
  }
  temporary_.reset();
}

void StoredSettings::Remove(const fs::path& top) const {
  const FileDescriptor directory = OpenDirectory(target_.parent_path(), trusted_, false);
  if (directory.valid() && ::unlinkat(directory.get(), target_.filename().c_str(), 0) != 0) {
    Fail("remove", path_, errno);
  }
  std::error_code unknown;
  const fs::path real_top = fs::canonical(top, unknown);
  // Behind a link, the directories are the user's.
  if (target_ != real_top / path_.lexically_relative(top)) return;
  for (fs::path empty = target_.parent_path(); empty != real_top; empty = empty.parent_path()) {
    if (::rmdir(empty.c_str()) != 0) return;
  }
}

fs::path StateDirectory(const std::string& home, const std::string& xdg_state_home) {
  constexpr const char* kName = "limactl-mcp";
  if (xdg_state_home.starts_with('/')) return support::CleanPath(xdg_state_home) / fs::path(kName);
  if (!home.starts_with('/')) {
    throw support::CallError("HOME must be set to your home directory");
  }
  return support::CleanPath(home) / fs::path(".local/state") / kName;
}

std::string Digest(std::string_view text) {
  return lima::ShortSha256(text);
}

}  // namespace configure
