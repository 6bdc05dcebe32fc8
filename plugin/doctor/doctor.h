#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "paths/guest_reach.h"

namespace doctor {

/// Checks everything between an agent and the guest of `instance`, in this order:
///   limactl        is on `path` (a value of $PATH), out of the guest's `reach`, and new enough
///   plugin         `limactl mcp` runs this program
///   instance       exists
///   configuration  Lima's files can be read
///   status         the instance runs
///   mounts         exist on the host, and none may be stale in the guest
///   exposure       the guest reaches nothing of the host but the project
///   settings       the guest cannot change the settings that confine an agent
///   ssh.config     can be read, and has the host agent's port
///   connect        sshd accepts a key and serves files
///   copies         are listed, with what was not taken of each, and have git, sudo and disk space;
///                  left out if there are mounts and no copies
///   server         starts as an agent starts it, and lists its tools
///   mounted        the guest has the mounts
///   shell          runs a command silently
///   write          a file written to a writable mount in the guest appears on the host
///   git            is installed
///
/// Each check takes at most 20 seconds, but for git in copies. Changes nothing, except that it
/// creates and removes a file in each writable mount. Never throws; errors become findings. Calls
/// `on_finding` after each check. The caller must ignore SIGPIPE.
std::vector<Finding> Examine(const std::string& instance, const std::string& path,
                             const paths::GuestReach& reach,
                             const std::function<void(const Finding&)>& on_finding);

}  // namespace doctor
