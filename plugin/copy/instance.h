// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "exposure/guest_reach.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "paths/host_programs.h"

namespace copy {

/// An instance, and what its guest can write or plant on this host.
struct Instance {
  lima::InstanceConfiguration configuration;
  std::vector<lima::Mount> mounts;
  exposure::GuestReach reach;
  paths::HostPrograms programs;  ///< of this host

  /// Throws support::Error if the guest can write the file.
  void RequireOutOfReach(const std::filesystem::path& file) const;

  /// The name as an argument of a command, with a space in front; empty if it is what they take.
  [[nodiscard]] std::string Argument() const;

  /// How to work in a copy, instead of on a mount of the instance.
  [[nodiscard]] std::string CopyAdvice() const;
};

/// Throws support::Error if there is none; with `mountless`, the advice is to create one so.
Instance LoadInstance(const std::string& name, paths::HostPrograms programs, bool mountless);

/// Removes directories that the guest can write from PATH.
void UseSafeSearchPath(const exposure::GuestReach& reach);

/// The same, for limactl and the programs that it starts. Throws support::Error if limactl lies in
/// the guest's reach.
void UseSafeSearchPathOfLima(const exposure::GuestReach& reach);

/// Whether it is stopped; else it runs. Throws support::Error if it stays broken for
/// RetryTimes::broken: it looks so while it starts.
bool IsStopped(const Instance& instance);

/// Says so on standard error. Throws support::Error.
void Start(const Instance& instance);

}  // namespace copy
