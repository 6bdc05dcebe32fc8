#pragma once

#include <sys/types.h>

namespace bench {

struct TreeUsage {
  double peak_mebibytes = 0;      ///< sum of the highest resident sizes so far
  double resident_mebibytes = 0;  ///< sum of the present ones
  int threads = 0;
};

/// Of a process and all its descendants. Needs /proc; nothing but zeros elsewhere.
TreeUsage UsageOf(pid_t process);

}  // namespace bench
