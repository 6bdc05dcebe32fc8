#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"

/// Checks of Lima's files on the host. None waits longer than lima::kHostAgentTimeout.
namespace doctor {

/// The first of Lima's files for the instance that is newer than the start of its virtual machine,
/// which may have other mounts then.
std::optional<std::filesystem::path> ChangedAfterStart(
    const lima::InstanceConfiguration& configuration);

/// Warns if ChangedAfterStart. Throws lima::ConfigurationError for an unsupported guest or login
/// shell.
Finding CheckConfiguration(const lima::InstanceConfiguration& configuration);

Finding CheckStatus(const lima::InstanceConfiguration& configuration);

/// Whether the locations exist on the host, and none may be stale in the guest.
Finding CheckMounts(const lima::InstanceConfiguration& configuration,
                    const std::vector<lima::Mount>& mounts);

/// Warns if settings from `limactl mcp configure`, which confine an agent, are at the top of a
/// writable mount, or in `project` (which may be empty) below one: the guest can change them.
Finding CheckSettings(const std::vector<lima::Mount>& mounts, const std::string& project,
                      const std::string& instance);

/// Whether ssh.config has the host agent's port. An old port may belong to another VM, which would
/// accept the same key: all instances of a user share one.
Finding CheckSshConfig(const lima::InstanceConfiguration& configuration,
                       const lima::SshEndpoint& endpoint);

}  // namespace doctor
