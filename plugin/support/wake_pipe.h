#pragma once

#include "support/file_descriptor.h"

namespace support {

/// Wakes a thread that polls. Uses a pipe, because macOS has no eventfd.
class WakePipe {
 public:
  WakePipe();

  /// Any thread.
  void Wake();

  /// The polling thread calls this when `fd()` is readable; until then it stays readable.
  void Drain();

  /// The descriptor to poll for reading.
  [[nodiscard]] int fd() const { return read_end_.get(); }

 private:
  FileDescriptor read_end_;
  FileDescriptor write_end_;
};

}  // namespace support
