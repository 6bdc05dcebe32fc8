#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace testing_support {

/// A process table that is full for some processes and what they start, until it is destroyed.
class ProcessLimit {
 public:
  virtual ~ProcessLimit() = default;

  /// Lets `processes`, with their children, have `spare` more processes than now; with 0 not even a
  /// new one for each that ends. Returns nothing and says why in `problem` where this machine
  /// cannot do that: it takes Linux, and for root, whom its limits do not bind, a control group
  /// that can be written to.
  static std::unique_ptr<ProcessLimit> Impose(const std::vector<pid_t>& processes, int spare,
                                              std::string& problem);
};

}  // namespace testing_support
