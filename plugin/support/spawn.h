#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace support {

/// What a child process is given as its standard streams: descriptors that stay the caller's, or -1
/// for /dev/null.
struct SpawnStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

enum class SpawnSession {
  kShared,  ///< of this program: a signal of the terminal reaches the child too
  kOwn,     ///< its own: it goes on when this program ends
};

/// Starts `command`, a program looked for on PATH unless its name has a slash, and its arguments.
/// The child has this program's environment and directory, no other descriptors of it, and none of
/// its ignored or blocked signals. Returns the process id, which the caller has to wait for. Throws
/// std::system_error when it cannot be started.
pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            SpawnSession session);

}  // namespace support
