#include "support/file_descriptor.h"

#include <unistd.h>

#include <utility>

namespace support {

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

void FileDescriptor::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace support
