#pragma once

namespace support {

/// Owns one file descriptor and closes it. Whoever must hear about errors of close() (who wrote a
/// file) closes by itself; everything here is read, or a socket or pipe.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { Close(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

  /// Now instead of in the destructor.
  void Close();

 private:
  int fd_ = -1;
};

}  // namespace support
