#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "commands/commands.h"

namespace {

/// A standard stream that the caller has closed would be the first file that is opened: messages
/// would go there. Instead the input is at its end, and what is written fails as if it were closed.
bool OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool closed = ::fcntl(fd, F_GETFD) < 0 && errno == EBADF;
    // open() takes the lowest number that is free, which is this one.
    if (closed && ::open("/dev/null", O_RDONLY) < 0) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!OccupyStandardStreams()) return 1;
  // A caller may start a program without even its own name.
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return commands::Run(arguments);
}
