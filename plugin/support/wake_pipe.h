#pragma once

#include "support/file_descriptor.h"

namespace support {

/// Wakes a thread that polls. A pipe, because macOS has no eventfd.
class WakePipe {
 public:
  WakePipe();

  /// Any thread.
  void Wake();

  /// For the polling thread, when `fd()` is readable. Without it the pipe stays readable.
  void Drain();

  /// The end to poll for reading.
  [[nodiscard]] int fd() const { return read_end_.get(); }

 private:
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

}  // namespace support
