// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Commands for the user's shell.
namespace lima {

/// The instance of most commands if none is named. `run` offers to create it. It mounts nothing.
inline constexpr const char* kAgentInstance = "agent";

/// `run` offers to create it, too. It mounts nothing and reaches no network.
inline constexpr const char* kClosedInstance = "closed";

/// Restarts a running instance.
std::string RestartCommand(const std::string& instance);

/// The same for a virtual machine that does not react.
std::string ForcedRestartCommand(const std::string& instance);

/// Changes the configuration, with `arguments` of `limactl edit`. That refuses a running instance.
std::string EditCommands(const std::string& instance, const std::string& arguments = "");

/// The command that makes an instance `name` which mounts only `directory`, by default the current
/// one.
std::string SandboxCommand(const std::string& name, const std::string& directory = "");

/// The same for an instance that mounts nothing; the words of the command. kClosedInstance has a
/// writable directory where this host has the home directory.
std::vector<std::string> MountlessSandboxCommand(const std::string& name);

/// The template as `limactl` takes it: by name if the limactl on `path`, a value of $PATH, finds it
/// (Lima's pkg/usrlocalsharelima: beside its own bin), else the file beside `program`, this one's,
/// or in its checkout.
std::string SandboxTemplate(const std::filesystem::path& program, const std::string& path,
                            const std::string& name = "agent-sandbox");

}  // namespace lima
