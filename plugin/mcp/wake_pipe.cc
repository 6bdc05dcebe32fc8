#include "mcp/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace mcp {

WakePipe::WakePipe() {
  // Not pipe2: macOS has none.
  if (::pipe(fds_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  for (const int fd : fds_) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
}

WakePipe::~WakePipe() {
  ::close(fds_[0]);
  ::close(fds_[1]);
}

void WakePipe::Set() noexcept {
  const int saved = errno;
  // A full pipe is readable already, so the result does not matter.
  while (::write(fds_[1], "x", 1) < 0 && errno == EINTR) {
  }
  errno = saved;
}

}  // namespace mcp
