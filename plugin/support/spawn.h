#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace support {

/// A child's standard streams: descriptors, which the caller still owns, or -1 for /dev/null.
struct SpawnStreams {
  int input = -1;
  int output = -1;
  int error = -1;
  int inherited = -1;  ///< one more descriptor, which the child has under the same number
};

enum class SpawnSession {
  kShared,  ///< the terminal's signals reach the child too
  kOwn,     ///< the child keeps running when this program exits
};

/// Variables as "NAME=value".
using Variables = std::vector<std::string>;

/// This program's own.
Variables OwnVariables();

/// Starts `command`: a program (found on this program's PATH unless its name has a slash) and its
/// arguments. The child gets `environment` and inherits the directory, but no other descriptors and
/// no ignored or blocked signals. Returns the process id; the caller must wait for it. Throws
/// std::system_error.
pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            SpawnSession session, const Variables& environment = OwnVariables());

}  // namespace support
