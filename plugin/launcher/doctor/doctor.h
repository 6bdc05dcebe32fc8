// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "exposure/guest_reach.h"

namespace doctor {

/// Checks everything between an agent and the guest of `instance`: what host_checks.h and
/// guest_checks.h have, whether limactl is on `path` (a value of $PATH) out of the guest's `reach`,
/// and whether sshd accepts a key and serves files. Skips a check whose base has failed.
///
/// Each check takes at most 20 seconds, except that a closed instance may boot for ten minutes.
/// Changes nothing, except that it creates and removes a file in each writable mount. Never throws;
/// errors become findings. Calls `on_finding` after each check. The caller must ignore SIGPIPE.
std::vector<Finding> Examine(const std::string& instance, const std::string& path,
                             const exposure::GuestReach& reach,
                             const std::function<void(const Finding&)>& on_finding);

}  // namespace doctor
