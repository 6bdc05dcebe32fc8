#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace soak {

/// What is in use at one moment. Needs /proc.
struct Sample {
  std::uint64_t calls = 0;     ///< ended so far
  double mebibytes = 0;        ///< resident, of the server that has most
  double descriptors = 0;      ///< of the server that has most
  double threads = 0;          ///< of the server that has most
  double guest_processes = 0;  ///< sshd's sessions and all that they have started
};

/// Of one server process; `guest_processes` and `calls` are left out.
Sample SampleOf(pid_t server);

/// The median of one figure over the samples from `begin` to `end`, both as shares of all.
double MedianOf(const std::vector<Sample>& samples, double Sample::*figure, double begin,
                double end);

}  // namespace soak
