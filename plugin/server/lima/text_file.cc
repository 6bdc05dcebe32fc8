// SPDX-License-Identifier: Apache-2.0
#include "lima/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "support/units.h"

namespace lima {
namespace {

[[noreturn]] void ThrowUnreadable(const std::filesystem::path& path, int error) {
  throw ConfigurationError("cannot read {}: {}", path.string(),
                           std::generic_category().message(error));
}

}  // namespace

std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit) {
  const support::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.valid()) return ReadTextFile(file, path, limit);
  if (errno == ENOENT) return std::nullopt;
  ThrowUnreadable(path, errno);
}

std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) ThrowUnreadable(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw ConfigurationError("cannot read {}: it is not a regular file", path.string());
  }
  constexpr std::size_t kPiece = 4096;
  std::string text;
  while (text.size() <= limit) {
    const std::size_t before = text.size();
    text.resize(before + kPiece);
    const ssize_t count = ::read(file.get(), text.data() + before, kPiece);
    if (count < 0) ThrowUnreadable(path, errno);
    text.resize(before + static_cast<std::size_t>(count));
    if (count == 0) return text;
  }
  throw ConfigurationError("cannot use {}: it is larger than {}", path.string(),
                           support::FormatByteCount(limit));
}

}  // namespace lima
