#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"

/// What Lima's files on the host show. Nothing here waits longer than lima::kHostAgentTimeout.
namespace doctor {

/// A shell line that restarts an instance in any state.
std::string RestartCommand(const std::string& instance);

/// Throws lima::ConfigurationError for an unsupported guest or login shell.
Finding CheckConfiguration(const lima::InstanceConfiguration& configuration);

Finding CheckStatus(const lima::InstanceConfiguration& configuration);

/// Whether the locations exist on the host, and none may show the guest old contents.
Finding CheckMounts(const lima::InstanceConfiguration& configuration,
                    const std::vector<lima::Mount>& mounts);

/// Whether settings from `limactl mcp configure` lie at the top of a writable mount, or in
/// `project` below one: the guest can change what confines that agent. `project` may be empty.
Finding CheckSettings(const std::vector<lima::Mount>& mounts, const std::string& project,
                      const std::string& instance);

/// Whether the host agent names the port of ssh.config. All instances of a user share one key: an
/// old port may belong to another virtual machine, which accepts it.
Finding CheckSshConfig(const lima::InstanceConfiguration& configuration,
                       const lima::SshEndpoint& endpoint);

}  // namespace doctor
