// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "commands/commands.h"

namespace {

/// Opens /dev/null for each standard stream that the caller closed. Otherwise the first file opened
/// would take its number and receive the messages. Writes to a closed stream still fail.
bool OccupyStandardStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool closed = ::fcntl(fd, F_GETFD) < 0 && errno == EBADF;
    // open() takes the lowest free number, which is this one.
    if (closed && ::open("/dev/null", O_RDONLY) < 0) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (!OccupyStandardStreams()) return 1;
  // argc may be 0.
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return commands::Run(arguments);
}
