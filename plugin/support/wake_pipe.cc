#include "support/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace support {

WakePipe::WakePipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_end_ = FileDescriptor(ends[0]);
  write_end_ = FileDescriptor(ends[1]);
  for (const int end : ends) {
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(end, F_SETFL, O_NONBLOCK) != 0) {
      throw std::system_error(errno, std::generic_category(), "fcntl");
    }
  }
}

void WakePipe::Wake() {
  const char byte = 0;
  // Ignore a full pipe: it is readable already.
  while (::write(write_end_.get(), &byte, 1) < 0 && errno == EINTR) {
  }
}

void WakePipe::Drain() {
  std::array<char, 64> bytes{};
  while (::read(read_end_.get(), bytes.data(), bytes.size()) == std::ssize(bytes)) {
  }
}

}  // namespace support
