// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"
#include "support/context.h"
#include "support/version.h"

/// Checks of this host: the installation, and Lima's files for the instance. None but CheckLimactl
/// waits longer than lima::kHostAgentTimeout.
namespace doctor {

using Mounts = std::vector<lima::Mount>;

/// The limactl-mcp that `limactl mcp` runs, links not resolved. limactl looks in its own directory,
/// in the one that its links resolve to, in `path` (a value of $PATH), and in libexec/lima and
/// lib/lima next to those two. Follows getPluginDirectories in Lima's pkg/plugins/plugins.go.
std::optional<std::filesystem::path> FindPlugin(const std::filesystem::path& limactl,
                                                const std::string& path);

/// Runs `limactl --version`, and sets its `release`. Lima has plugins since 2.0.
Finding CheckLimactl(const std::optional<std::filesystem::path>& limactl,
                     const support::Context& context, std::optional<support::Release>& release);

/// Whether `plugin`, which limactl runs, is `own_program`.
Finding CheckPlugin(const std::optional<std::filesystem::path>& plugin,
                    const std::filesystem::path& own_program);

/// The first of Lima's files for the instance that is newer than the start of its virtual machine,
/// which may have other mounts then. None if it is stopped.
std::optional<std::filesystem::path> ChangedAfterStart(
    const lima::InstanceConfiguration& configuration);

/// Warns if ChangedAfterStart. Throws support::Error for an unsupported guest or login
/// shell.
Finding CheckConfiguration(const lima::InstanceConfiguration& configuration);

Finding CheckStatus(const lima::InstanceConfiguration& configuration);

/// Whether the locations exist on the host, and none may be stale in the guest.
Finding CheckMounts(const lima::InstanceConfiguration& configuration, const Mounts& mounts);

/// Whether ssh.config has the host agent's port. An old port may belong to another VM, which would
/// accept the same key: all instances of a user share one.
Finding CheckSshConfig(const lima::InstanceConfiguration& configuration,
                       const lima::SshEndpoint& endpoint);

}  // namespace doctor
