// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace support {

/// For send(): no SIGPIPE. macOS has no such flag; there the program ignores the signal, or sets
/// SO_NOSIGPIPE.
#ifdef MSG_NOSIGNAL
inline constexpr int kNoSigpipe = MSG_NOSIGNAL;
#else
inline constexpr int kNoSigpipe = 0;
#endif

/// Owns one file descriptor and closes it. Ignores errors of close(), so do not use it for files
/// that are written.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

  void Close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace support
