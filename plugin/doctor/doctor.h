#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/finding.h"

namespace doctor {

/// Checks everything between an agent and the guest of `instance`, in this order:
///   limactl        is on `path` (a value of $PATH) and new enough
///   plugin         `limactl mcp` runs this program
///   instance       exists
///   configuration  Lima's files can be read
///   status         the instance runs
///   mounts         exist on the host, and none may show old contents in the guest
///   settings       the guest cannot change what confines an agent
///   ssh.config     can be read, and names the port that the host agent knows
///   connect        sshd accepts a key and serves files
///   server         starts as an agent starts it, and lists its tools
///   mounted        the guest has the mounts
///   shell          runs a command silently
///   write          what a writable mount receives in the guest appears on the host
///   find, git      are installed
///
/// Each check ends within 20 seconds. Changes nothing, except for a file in each writable mount,
/// which it removes. Never throws: errors become findings. Calls `on_finding` after each check.
/// SIGPIPE must be ignored.
std::vector<Finding> Examine(const std::string& instance, const std::string& path,
                             const std::function<void(const Finding&)>& on_finding);

}  // namespace doctor
