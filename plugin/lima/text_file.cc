#include "lima/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "lima/configuration_error.h"

namespace lima {
namespace {

[[noreturn]] void ThrowUnreadable(const std::filesystem::path& path, int error) {
  throw ConfigurationError("cannot read " + path.string() + ": " +
                           std::generic_category().message(error));
}

}  // namespace

std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit) {
  // Non-blocking: opening a FIFO would wait for its writer.
  const support::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    if (errno == ENOENT) return std::nullopt;
    ThrowUnreadable(path, errno);
  }
  return ReadTextFile(file, path, limit);
}

std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) ThrowUnreadable(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw ConfigurationError("cannot read " + path.string() + ": it is not a regular file");
  }

  // Fresh memory is what reading a small file costs: no more of it than the file is long, and the
  // byte by which its end is seen. A file that has no size, as in /proc, or that grows, takes more.
  constexpr std::size_t kSmallestPiece = 1024;
  constexpr std::size_t kLargestPiece = std::size_t{64} * 1024;
  const std::size_t piece =
      std::clamp(static_cast<std::size_t>(status.st_size) + 1, kSmallestPiece, kLargestPiece);
  std::string text;
  while (text.size() <= limit) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    const ssize_t count = ::read(file.get(), text.data() + before, piece);
    const int error = errno;
    text.resize(before + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count == 0) return text;
    if (count < 0 && error != EINTR) ThrowUnreadable(path, error);
  }
  throw ConfigurationError("cannot use " + path.string() + ": it is larger than " +
                           std::to_string(limit) + " bytes");
}

}  // namespace lima
