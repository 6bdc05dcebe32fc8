#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace support {

/// A child's standard streams: descriptors that stay the caller's, or -1 for /dev/null.
struct SpawnStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

enum class SpawnSession {
  kShared,  ///< a signal of the terminal reaches the child too
  kOwn,     ///< the child goes on when this program ends
};

/// Starts `command`: a program (found on PATH unless its name has a slash) and its arguments. The
/// child inherits the environment and the directory, but no other descriptors and no ignored or
/// blocked signals. Returns the process id, which the caller must wait for. Throws
/// std::system_error.
pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            SpawnSession session);

}  // namespace support
