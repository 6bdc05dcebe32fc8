#pragma once

#include <atomic>

namespace ssh {

/// Owns one file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

/// Wakes a thread that polls: a pipe, since macOS has no eventfd. Throws std::system_error when the
/// process has no file descriptors left.
class WakePipe {
 public:
  WakePipe();

  /// Any thread. Cheap when a wake-up is already on its way.
  void Wake();

  /// The polling thread, when `fd()` is readable.
  void Drain();

  /// The end to poll for reading.
  [[nodiscard]] int fd() const { return read_end_.get(); }

 private:
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::atomic<bool> signalled_ = false;
};

}  // namespace ssh
