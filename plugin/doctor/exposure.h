#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/environment.h"

/// What an instance lets the guest reach on the host beyond the project.
namespace doctor {

struct Exposure {
  /// How the guest could read and write any file of the user's; empty if it cannot.
  std::string escape = {};
  std::vector<std::string> rest = {};  ///< what else it can reach
};

/// `project` may be empty, and `environment` is this program's.
Exposure FindExposure(const lima::InstanceConfiguration& configuration,
                      const std::vector<lima::Mount>& mounts, const std::string& project,
                      const support::Environment& environment);

Finding CheckExposure(const Exposure& exposure);

}  // namespace doctor
