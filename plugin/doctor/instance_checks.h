#pragma once

#include <filesystem>
#include <string>

#include "doctor/finding.h"
#include "lima/configuration.h"
#include "lima/ssh_config.h"

/// What Lima's files on the host say of an instance. Nothing here waits for longer than the host
/// agent is given (lima::kHostAgentTimeout).
namespace doctor {

/// Starts an instance anew, whatever has become of it: a line for the shell.
std::string RestartCommand(const std::string& instance);

/// Whether there is an instance of that name. Throws lima::ConfigurationError for what is no name.
Finding CheckInstance(const std::filesystem::path& lima_home, const std::string& name);

/// What the configuration, which has been read, says of guest, shell and driver. Throws
/// lima::ConfigurationError for a shell that cannot be used.
Finding CheckConfiguration(const lima::InstanceConfiguration& configuration);

Finding CheckStatus(const lima::InstanceConfiguration& configuration);

Finding CheckSshConfig(const lima::SshEndpoint& endpoint);

/// Whether the host agent names the same port as ssh.config. All instances of a user share one key:
/// an old port may by now lead to another virtual machine, which lets us in.
Finding CheckPort(const lima::InstanceConfiguration& configuration,
                  const lima::SshEndpoint& endpoint);

/// Whether the private keys can be used, and by nobody else.
Finding CheckKeys(const lima::SshEndpoint& endpoint);

}  // namespace doctor
