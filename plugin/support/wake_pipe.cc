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
  if (signalled_.exchange(true)) return;
  const char byte = 0;
  // The pipe holds at most one byte, so only a signal can interrupt the write.
  while (::write(write_end_.get(), &byte, 1) < 0 && errno == EINTR) {
  }
}

void WakePipe::Drain() {
  std::array<char, 16> bytes{};
  while (::read(read_end_.get(), bytes.data(), bytes.size()) == std::ssize(bytes)) {
  }
  // A wake-up before this line writes nothing, but this thread looks for work after every drain.
  signalled_.store(false);
}

}  // namespace support
