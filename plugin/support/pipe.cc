// SPDX-License-Identifier: Apache-2.0
#include "support/pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace support {

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  read_end = FileDescriptor(ends[0]);
  write_end = FileDescriptor(ends[1]);
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
}

WakePipe::WakePipe() {
  for (const FileDescriptor* end : {&pipe_.read_end, &pipe_.write_end}) {
    ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
  }
}

void WakePipe::Wake() {
  const char byte = 0;
  // Ignore a full pipe: it is readable already.
  while (::write(pipe_.write_end.get(), &byte, 1) < 0 && errno == EINTR) {
  }
}

void WakePipe::Drain() {
  std::array<char, 64> bytes{};
  while (::read(pipe_.read_end.get(), bytes.data(), bytes.size()) == std::ssize(bytes)) {
  }
}

}  // namespace support
