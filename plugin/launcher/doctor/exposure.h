// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "doctor/host_checks.h"
#include "support/environment.h"
#include "support/version.h"

/// What an instance, and the others, show of the host. Reads only Lima's files.
namespace doctor {

/// The parts of the host beyond the project that the guest can reach.
struct Exposure {
  /// How the guest could read and write any file of the user's; empty if it cannot.
  std::string escape = {};
  std::vector<std::string> rest = {};  ///< other things that it can reach, or who can reach it
  /// Warnings of other instances, whose guests can write the project or Lima's home.
  std::vector<Finding> other_instances = {};
};

/// `project` may be empty, and `environment` is this program's. Other instances whose files cannot
/// be used are left out: Lima does not start them either.
Exposure FindExposure(const lima::InstanceConfiguration& configuration, const Mounts& mounts,
                      const std::string& project, const support::Environment& environment);

/// How to keep the guest from 127.0.0.1 of this host; empty if this `release` of Lima cannot, or it
/// is done.
std::string LoopbackAdvice(const lima::InstanceConfiguration& configuration,
                           const std::optional<support::Release>& release);

/// `recommendation` is printed also if nothing is wrong; it may be empty.
Finding CheckExposure(const Exposure& exposure, const std::string& recommendation);

}  // namespace doctor
