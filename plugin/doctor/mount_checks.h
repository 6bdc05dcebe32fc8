#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "paths/mount_check.h"
#include "support/context.h"

namespace doctor {

/// The mounts on the host's side: there is one, their locations are there, and none may show the
/// guest old contents. A location that is missing before the instance runs is a warning: limactl
/// start makes it (pkg/driver/qemu/qemu.go, pkg/driver/vz/vm_darwin.go, pkg/hostagent/mount.go).
Finding CheckMounts(const std::vector<lima::MountLocation>& mounts, const std::string& instance,
                    bool is_running);

/// Which mounts the guest has. Empty where that cannot be told; `why` then says so.
struct MountedState {
  std::vector<paths::MountState> states;  ///< one for each mount
  std::string why;
};

/// Whether this mount is there, as far as is known.
bool IsThere(const MountedState& mounted, std::size_t mount);

MountedState AskMounted(const lima::InstanceConfiguration& configuration,
                        const std::vector<lima::Mount>& mounts, guest::Guest& guest,
                        const support::Context& context);

/// Judges what AskMounted said.
Finding CheckMounted(const std::vector<lima::Mount>& mounts, const MountedState& mounted,
                     const std::string& instance);

/// Makes a file in each writable mount that is there, writes to it and removes it again. The file
/// has a name that a later write of the program clears away, should the line break in between.
Finding CheckWriteAccess(const std::vector<lima::Mount>& mounts, const MountedState& mounted,
                         guest::Guest& guest, const support::Context& context);

}  // namespace doctor
