// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "support/child.h"

namespace run {

/// `limactl-mcp port` in a session of its own. It ends with this object, or within two seconds
/// after this process.
class PortProcess {
 public:
  /// Waits until the ports can be used, and prints where. `words` are as for the command. Throws
  /// support::Error if they cannot, after what the command printed. The caller must ignore SIGPIPE.
  PortProcess(const std::vector<std::string>& words, const std::string& instance);

 private:
  support::Child child_;
};

}  // namespace run
