// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/file_descriptor.h"

namespace support {

/// A new pipe, closed on exec. The constructor throws std::system_error.
struct Pipe {
  Pipe();

  FileDescriptor read_end;
  FileDescriptor write_end;
};

/// Wakes a thread that polls. Uses a pipe, because macOS has no eventfd.
class WakePipe {
 public:
  WakePipe();

  /// Any thread.
  void Wake();

  /// The polling thread calls this when `fd()` is readable; until then it stays readable.
  void Drain();

  /// The descriptor to poll for reading.
  [[nodiscard]] int fd() const { return pipe_.read_end.get(); }

 private:
  Pipe pipe_;
};

}  // namespace support
