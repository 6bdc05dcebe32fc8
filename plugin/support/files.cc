// SPDX-License-Identifier: Apache-2.0
#include "support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "support/errors.h"
#include "support/units.h"

namespace support {
namespace {

[[noreturn]] void ThrowUnreadable(const std::filesystem::path& path, int error) {
  throw Error("cannot read {}: {}", path.string(), std::generic_category().message(error));
}

}  // namespace

std::optional<std::string> ReadFile(const std::filesystem::path& path, std::size_t limit) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.valid()) return ReadFile(file, path, limit);
  if (errno == ENOENT) return std::nullopt;
  ThrowUnreadable(path, errno);
}

std::string ReadFile(const FileDescriptor& file, const std::filesystem::path& path,
                     std::size_t limit) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) ThrowUnreadable(path, errno);
  if (!S_ISREG(status.st_mode))
    throw Error("cannot read {}: it is not a regular file", path.string());
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
  throw Error("cannot use {}: it is larger than {}", path.string(), FormatByteCount(limit));
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteText(const std::filesystem::path& path, const std::string& text) {
  // Another process may write the same file.
  const std::filesystem::path temporary =
      path.string() + "." + std::to_string(::getpid()) + ".lock";
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error("cannot write {}", temporary.string());
  std::filesystem::rename(temporary, path);
}

}  // namespace support
