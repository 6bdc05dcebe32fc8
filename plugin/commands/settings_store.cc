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

std::optional<std::string> ReadText(const fs::path& path) {
  try {
    return lima::ReadTextFile(path, kMaximumSettingsBytes);
  } catch (const lima::ConfigurationError& error) {
    throw support::CallError(error.what());
  }
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

void SyncDirectory(const fs::path& directory) {
  const FileDescriptor descriptor(::open(directory.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid() || ::fsync(descriptor.get()) != 0) Fail("flush", directory, errno);
}

/// A file that is removed unless it is kept.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& beside, unsigned mode)
      : path_(beside.parent_path() / ("." + beside.filename().string() + ".limactl-mcp-" +
                                      support::RandomHex(kRandomDigits))) {
    descriptor_ =
        FileDescriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!descriptor_.valid()) Fail("write into", beside.parent_path(), errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  void RenameTo(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) Fail("write", target, errno);
    path_.clear();
  }

 private:
  std::string path_;
  FileDescriptor descriptor_;
};

}  // namespace

StoredSettings::StoredSettings(fs::path path, const std::optional<fs::path>& project, unsigned mode)
    : path_(std::move(path)), target_(TargetOf(path_)), mode_(mode) {
  if (project) {
    std::error_code error;
    const fs::path top = fs::canonical(*project, error);
    if (error) Fail("resolve the links of", *project, error.value());
    if (!support::PathBelow(target_.string(), top.string())) {
      throw support::CallError(path_.string() + " is a link out of the project, to " +
                               target_.string() + "; nothing is written there");
    }
  }
  text_ = ReadText(target_);
  if (text_ && ::stat(target_.c_str(), &status_) != 0) Fail("read", target_, errno);
}

bool StoredSettings::is_link() const {
  std::error_code unknown;
  return fs::is_symlink(fs::symlink_status(path_, unknown));
}

void StoredSettings::Write(const std::string& text) const {
  std::error_code error;
  fs::create_directories(target_.parent_path(), error);
  if (error) Fail("make", target_.parent_path(), error.value());
  struct stat made {};
  const bool existed = text_.has_value();
  TemporaryFile file(target_, existed ? kOwnerOnly : mode_);
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
  file.RenameTo(target_);
  SyncDirectory(target_.parent_path());
}

void StoredSettings::Replace(const std::optional<std::string>& text, const fs::path& top) const {
  if (ReadText(target_) != text_) {
    throw support::CallError(path_.string() +
                             " has just been changed by another program; run configure again");
  }
  Put(text, top);
}

void StoredSettings::Restore(const std::optional<std::string>& replaced_by,
                             const fs::path& top) const {
  const std::optional<std::string> now = ReadText(target_);
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
  if (::unlink(path_.c_str()) != 0) Fail("remove", path_, errno);
  // Only empty directories can be removed, which is what is wanted.
  for (fs::path directory = path_.parent_path();
       directory != top && support::PathBelow(directory.string(), top.string());
       directory = directory.parent_path()) {
    if (::rmdir(directory.c_str()) != 0) return;
  }
}

}  // namespace commands
