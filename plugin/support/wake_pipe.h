#pragma once

#include <atomic>

#include "support/file_descriptor.h"

namespace support {

/// Wakes a thread that polls: a pipe, since macOS has no eventfd. Throws std::system_error when the
/// process has no file descriptors left.
class WakePipe {
 public:
  WakePipe();

  /// Any thread. Cheap when a wake-up is already on its way.
  void Wake();

  /// The polling thread, when `fd()` is readable. Without it, the pipe stays readable for good.
  void Drain();

  /// The end to poll for reading.
  [[nodiscard]] int fd() const { return read_end_.get(); }

 private:
  FileDescriptor read_end_;
  FileDescriptor write_end_;
  std::atomic<bool> signalled_ = false;
};

}  // namespace support
