#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/mounts.h"

namespace doctor {

/// Whether settings that `limactl mcp configure` wrote lie at the top of a writable mount, or in
/// `project` below one: the guest can change what confines that agent. `project` may be empty.
Finding CheckSettings(const std::vector<lima::MountLocation>& mounts, const std::string& project,
                      const std::string& instance);

}  // namespace doctor
